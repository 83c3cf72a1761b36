/** Generates random replies: trees of everything in Markdown, with words that are hard to write and to cut. */

import { type Block, type Inline, readInlines } from '@reveille/kit/markdown'
import fc from 'fast-check'

const wordsOf = (text: string) => fc.constantFrom(...text.split(' '))

const plainWord = wordsOf('a the deploy snake_case v1.5 C++ naïve done. Really? 3')
const hardWord = wordsOf(
  [
    '* ** _x_ __init__ ~ ~~ ` `` [x] ]( ![a] <b> <br> <@U1> &amp; & \\ \\* # ## - + 1. 2) > --- === | a|b |---|',
    '@everyone <!channel> $x$ a*b x_ _y *z* http://a.b www.a.b a@b.c :smile: [^1] [a]: ! ``` ~~~ {x}',
    '👩🏽‍🚀 🇨🇭🇯🇵 e\u0301 مرحبا שלום 漢字漢字 ภาษาไทย 😀',
  ].join(' '),
)
const word = fc.oneof({ weight: 3, arbitrary: plainWord }, { weight: 2, arbitrary: hardWord })
const sentence = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '))
const glued = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(''))
const text = fc.oneof(sentence, glued).map((each): Inline => ({ type: 'text', text: each }))
const spaced = sentence.map((each): Inline => ({ type: 'text', text: ` ${each} ` }))

const address = wordsOf(
  'https://example.com/ https://example.com/a_b_c/(d)?e=f&g=h#i https://example.com/~user/*star* mailto:ada@example.com tel:+15551234567',
)
const code = fc
  .constantFrom('x', 'a_b', '`', '``a``', 'a`b', '<b>', '**', 'a|b', '\\', ' a ', '@everyone')
  .map((each): Inline => ({ type: 'code', text: each }))
/** Excludes labels that look like addresses, which are separated from their links. */
const harmless = text.map(
  (each): Inline => ({ type: 'text', text: readInlines([each]).replaceAll(/\S+\.\S+|`/g, 'x') }),
)
/** Excludes code in labels, which `marked` does not read when it looks for the end of a label. */
const plainCode = fc.constantFrom('x', 'a_b').map((each): Inline => ({ type: 'code', text: each }))
const label = fc.array(fc.oneof(harmless, plainCode), { minLength: 1, maxLength: 2 })
const link = fc.oneof(
  fc.record({ address, children: label }).map((each): Inline => ({ type: 'link', ...each })),
  address.map((each): Inline => ({ type: 'link', address: each, children: [{ type: 'text', text: each }] })),
)
const image = fc
  .record({
    address: fc.constant('https://example.com/i.png'),
    description: fc.oneof(
      harmless.map((each) => readInlines([each])),
      fc.constant(''),
    ),
  })
  .map((each): Inline => ({ type: 'image', ...each }))

const { inlines } = fc.letrec<{ inlines: Inline[]; mark: Inline }>((tie) => ({
  mark: fc
    .record({ type: fc.constantFrom('strong', 'emphasis', 'strike'), children: tie('inlines') })
    .map((each) => each as Inline),
  inlines: fc.array(
    fc.oneof(
      { maxDepth: 2, depthIdentifier: 'inlines' },
      { weight: 4, arbitrary: text },
      { weight: 4, arbitrary: spaced },
      { weight: 1, arbitrary: code },
      { weight: 1, arbitrary: link },
      { weight: 1, arbitrary: image },
      { weight: 1, arbitrary: fc.constant<Inline>({ type: 'break' }) },
      { weight: 3, arbitrary: tie('mark') },
    ),
    { minLength: 1, maxLength: 5 },
  ),
}))

const oneLine = inlines.map((each) => withoutBreaks(each))
const paragraph = inlines.map((children): Block => ({ type: 'paragraph', children }))
const heading = fc
  .record({ level: fc.integer({ min: 1, max: 6 }), children: oneLine })
  .map((each): Block => ({ type: 'heading', ...each }))
const codeBlock = fc
  .record({
    language: fc.constantFrom('', 'ts', 'c++'),
    text: fc.array(fc.oneof(sentence, fc.constantFrom('', '```', '    x', '~~~')), {
      minLength: 1,
      maxLength: 6,
    }),
  })
  .map((each): Block => ({ type: 'code', language: each.language, text: each.text.join('\n') }))
const table = fc.integer({ min: 1, max: 4 }).chain((columns) => {
  const row = fc.array(oneLine, { minLength: columns, maxLength: columns })
  const align = fc.constantFrom('left', 'right', 'center', undefined)
  return fc
    .record({
      align: fc.array(align, { minLength: columns, maxLength: columns }),
      head: row,
      rows: fc.array(row, { minLength: 1, maxLength: 4 }),
    })
    .map((each) => ({ type: 'table', ...each }) as Block)
})

const { blocks } = fc.letrec<{ blocks: Block[]; quote: Block; list: Block }>((tie) => ({
  quote: tie('blocks').map((each): Block => ({ type: 'quote', blocks: each })),
  list: fc
    .record({
      start: fc.constantFrom(undefined, undefined, 1, 7),
      items: fc.array(
        fc.record({ blocks: tie('blocks'), checked: fc.boolean() }, { requiredKeys: ['blocks'] }),
        { minLength: 1, maxLength: 4 },
      ),
    })
    .map((each): Block => ({ type: 'list', ...each })),
  blocks: fc.array(
    fc.oneof(
      { maxDepth: 3, depthIdentifier: 'blocks' },
      { weight: 6, arbitrary: paragraph },
      { weight: 1, arbitrary: heading },
      { weight: 2, arbitrary: codeBlock },
      { weight: 1, arbitrary: table },
      { weight: 1, arbitrary: fc.constant<Block>({ type: 'rule' }) },
      { weight: 2, arbitrary: tie('list') },
      { weight: 1, arbitrary: tie('quote') },
    ),
    { minLength: 1, maxLength: 4 },
  ),
}))

/** Trees, including ones that no parser returns: marks in marks of the same kind, adjacent lists, blanks at the ends. */
export const randomTrees: fc.Arbitrary<readonly Block[]> = blocks

/** Texts that need not form a tree: words, marks and line ends in any order. */
export const randomTexts: fc.Arbitrary<string> = fc
  .array(fc.tuple(word, fc.constantFrom(' ', '', '\n', '\n\n', '\n    ', '\n- ', '\n> ', '\n```\n')), {
    maxLength: 40,
  })
  .map((pieces) => pieces.flat().join(''))

function withoutBreaks(inlines: readonly Inline[]): Inline[] {
  return inlines
    .filter((each) => each.type !== 'break')
    .map((each) => ('children' in each ? { ...each, children: withoutBreaks(each.children) } : each))
}
