import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { randomTexts, randomTrees } from '../../../test/channels/random-trees.ts'
import { markdownDialect } from './markdown-dialect.ts'
import { parseMarkdown } from './parse.ts'
import { plainDialect } from './plain-dialect.ts'
import { renderBlocks, renderParts } from './render-parts.ts'
import { readText } from './tree.ts'
import { createWriter } from './writer.ts'

const write = createWriter(markdownDialect())
const writePlain = createWriter(plainDialect)
const measure = (text: string) => text.length
const render = (markdown: string, limit: number) => renderParts(markdown, { write, measure, limit })

test('blank text gives no messages, and a text that fits gives one', () => {
  for (const blank of ['', ' \n\n', '\u200b', '```\n```']) assert.deepEqual(render(blank, 10), [])
  assert.deepEqual(render('# a\n\nb', 6), ['# a\n\nb'])
})

test('messages are filled with whole blocks', () => {
  assert.deepEqual(render('one one.\n\ntwo two.\n\nthree.', 20), ['one one.\n\ntwo two.', 'three.'])
})

test('a paragraph is cut after a line, a word or a grapheme', () => {
  assert.deepEqual(render('one one\ntwo two', 10), ['one one', 'two two'])
  assert.deepEqual(render('alpha beta gamma', 11), ['alpha beta', 'gamma'])
  assert.deepEqual(render('👩‍👩‍👧‍👦'.repeat(3), 25), ['👩‍👩‍👧‍👦👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦'])
  assert.deepEqual(render('a\nbcdefghij klmnop', 12), ['a\nbcdefghij', 'klmnop'])
})

test('text without white space is cut between its words if the language has any', () => {
  const [first = ''] = render('ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอน', 24)
  assert.ok(/^(?:ภาษาไทยเป็นภาษา|ภาษาไทยเป็นภาษาที่|ภาษาไทยเป็นภาษาที่มี)$/.test(first), first)
})

test('marks are closed before a cut and opened again after it', () => {
  assert.deepEqual(render('**alpha beta _gamma delta_ epsilon**', 20), [
    '**alpha beta**',
    '**_gamma delta_**',
    '**epsilon**',
  ])
})

test('links and code are not cut and move to the next message', () => {
  assert.deepEqual(render('Some words [and a label](https://a.b/) here', 34), [
    'Some words',
    '[and a label](https://a.b/) here',
  ])
  assert.deepEqual(render('Some words `and much code` here', 20), ['Some words', '`and much code` here'])
})

test('a link whose label is longer than a message is a link in each of its messages', () => {
  const parts = render('[one two three four](https://a.b/)', 26)
  assert.ok(
    parts.every((part) => part.length <= 26 && part.endsWith('](https://a.b/)')),
    parts.join('|'),
  )
})

test('a link whose address is longer than a message becomes text', () => {
  const address = `https://a.b/${'c'.repeat(60)}`
  const parts = render(`See [this](${address}).`, 40)
  assert.equal(parts.join('').replaceAll(/\s|\\/g, ''), `See this (${address}).`.replaceAll(' ', ''))
})

test('a list continues with its next number', () => {
  assert.deepEqual(render('7. one\n8. two\n9. three\n10. four', 14), [
    '7. one\n8. two',
    '9. three',
    '10. four',
  ])
})

test('a cut item continues under its own number, after an ellipsis', () => {
  assert.deepEqual(render('1. One two three four five six seven.\n2. Eight.', 24), [
    '1. One two three four',
    '1. … five six seven.',
    '2. Eight.',
  ])
  assert.deepEqual(render('- a\n  - one one\n  - two two\n- b', 20), [
    '- a\n  - one one',
    '- …\n  - two two\n- b',
  ])
})

test('code continues in its language, cut between lines', () => {
  assert.deepEqual(render('```ts\nconst a = 1\nconst b = 2\n\nconst c = 3\n```', 36), [
    '```ts\nconst a = 1\nconst b = 2\n\n```',
    '```ts\nconst c = 3\n```',
  ])
})

test('no message is invisible, however much invisible text lies between two words', () => {
  const gaps = ['\n', '\u200d', '\u3164']
  for (const gap of gaps) {
    const between = gap.repeat(100)
    for (const text of [
      `a${between}b`,
      `\`\`\`\na${between}b\n\`\`\``,
      `> \`\`\`\n> a${between.replaceAll('\n', '\n> ')}b`,
    ])
      for (const parts of [render(text, 20), renderParts(text, { write: writePlain, measure, limit: 20 })])
        for (const part of parts) assert.match(part, /[ab]/)
  }
})

test('code that fits a message is not cut, however little the message before it then holds', () => {
  assert.deepEqual(render(`Run:\n\n\`\`\`\n${'x\n'.repeat(10)}\`\`\`\n\nDone.`, 28), [
    'Run:',
    `\`\`\`\n${'x\n'.repeat(10)}\`\`\``,
    'Done.',
  ])
})

test('a heading and an announcing line stay with the text that follows', () => {
  assert.deepEqual(render('One two three four.\n\n# Five\n\nSix seven eight nine.', 36), [
    'One two three four.',
    '# Five\n\nSix seven eight nine.',
  ])
  assert.deepEqual(render('One two three four.\n\nFive:\n\n- six six six\n- seven', 36), [
    'One two three four.',
    'Five:\n\n- six six six\n- seven',
  ])
})

test('a table continues under its head', () => {
  const head = '| a | b |\n| --- | --- |'
  const rows = Array.from({ length: 6 }, (_, index) => `| r${index} | s${index} |`)
  assert.deepEqual(render([head, ...rows].join('\n'), 66), [
    [head, ...rows.slice(0, 3)].join('\n'),
    [head, ...rows.slice(3)].join('\n'),
  ])
})

test('a table whose rows are longer than a message becomes a list for each row', () => {
  const parts = render(`| name | text |\n|---|---|\n| one | ${'word '.repeat(20)}|`, 60)
  assert.ok(parts[0]?.startsWith('**name: one**\n\n- text: word'), parts[0])
  assert.equal(parts.join(' ').match(/word/g)?.length, 20)
})

test('quotes continue as quotes', () => {
  assert.deepEqual(render('> One two. Three four.\n> Five six.', 26), [
    '> One two. Three four.',
    '> Five six.',
  ])
})

test("the markup of a message is counted in the vendor's unit", () => {
  const parts = renderParts('äöü äöü äöü', { write, measure: Buffer.byteLength, limit: 13 })
  assert.deepEqual(parts, ['äöü äöü', 'äöü'])
  const wrapped = renderParts('aa bb cc', { write: (blocks) => `<${write(blocks)}>`, measure, limit: 7 })
  assert.deepEqual(wrapped, ['<aa bb>', '<cc>'])
})

test('a limit that holds no character is refused', () => {
  assert.throws(() => render('ab', 0), RangeError)
  assert.throws(
    () => renderParts('a', { write, measure: () => 5, limit: 4 }),
    /limit of 4 holds not one character/,
  )
})

const cuts: readonly (readonly [string, (blocks: Parameters<typeof write>[0]) => string])[] = [
  ['Markdown', write],
  ['plain text', writePlain],
]

for (const [name, writeIn] of cuts)
  test(`any tree, and any text of an agent, in ${name} is cut into messages that fit, are not blank, and lose nothing`, () => {
    const trees = fc.oneof(randomTrees, randomTexts.map(parseMarkdown))
    fc.assert(
      fc.property(trees, fc.integer({ min: 30, max: 300 }), (blocks, limit) => {
        const parts = renderBlocks(blocks, { write: writeIn, measure, limit })
        for (const part of parts) assert.ok(part.length <= limit && part.trim() !== '', JSON.stringify(part))
        const seen = parts.map((part) => (writeIn === write ? readText(parseMarkdown(part)) : part)).join('')
        assertHolds(seen, readText(blocks))
      }),
      { seed: 20261121, numRuns: 80 },
    )
  })

/** Every character is there, in order, but for those of a table that has become lists, whose heads come with each row. */
function assertHolds(seen: string, expected: string): void {
  const shown = seen.replaceAll(/\s/g, '')
  const counts = new Map<string, number>()
  for (const each of shown) counts.set(each, (counts.get(each) ?? 0) + 1)
  for (const each of expected.replaceAll(/\s/g, '')) {
    const left = (counts.get(each) ?? 0) - 1
    assert.ok(left >= 0, JSON.stringify({ lost: each, expected, seen }))
    counts.set(each, left)
  }
}
