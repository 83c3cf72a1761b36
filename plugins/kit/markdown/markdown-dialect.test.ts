import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { randomTexts, randomTrees } from '../../../test/channels/random-trees.ts'
import { markdownDialect } from './markdown-dialect.ts'
import { parseMarkdown } from './parse.ts'
import { type Block, readText } from './tree.ts'
import { createWriter } from './writer.ts'

const write = createWriter(markdownDialect())
const rewrite = (markdown: string) => write(parseMarkdown(markdown))

test('text that only looks like markup gets no backslash', () => {
  for (const text of [
    'snake_case_name, 1.5, a - b, 2 * 3, ~5 minutes, C:\\dir, x > y, a < b, R&D, #3, [sic], (a), !',
    'Costs $5 (or 5 €), 50 %, v1.2.3, a/b, "quoted", it’s; well: done…',
    'See issue #12 at 10:30 | room 4 = fine + good',
  ])
    assert.equal(rewrite(text), text)
})

test('text that would be markup keeps its signs by backslashes', () => {
  for (const text of [
    '\\*a\\*',
    '\\_a\\_',
    '\\`a\\`',
    '\\[a\\](b)',
    '\\# a',
    '1\\. a',
    '\\- a',
    '\\> a',
    '\\<b>',
    '\\&amp;',
  ]) {
    const [block] = parseMarkdown(rewrite(text))
    assert.ok(
      block?.type === 'paragraph' && block.children.every((each) => each.type === 'text'),
      rewrite(text),
    )
    assert.equal(readText([block]), text.replaceAll('\\', ''))
  }
})

test('a backslash, a backtick and a bar are written so that they are read as themselves', () => {
  const text = ['C:\\\\', 'a \\` b', '`` a`b ``', '| a \\| b | `c\\|d` |\n| --- | --- |\n| 1 | 2 |'].join(
    '\n\n',
  )
  assert.equal(readText(parseMarkdown(rewrite(text))), readText(parseMarkdown(text)))
})

test('each kind of block is written in its usual form', () => {
  const reply = [
    '## Title',
    'A **b** _c_ ~~d~~ `e` [f](https://example.com/f).\nNext line.',
    '- one\n- two\n  - three\n\n7. seven\n8. eight',
    '- [x] done\n- [ ] not',
    '> said\n>\n> > twice',
    '```ts\nconst a = 1\n```',
    '| a | b |\n| :-- | --: |\n| 1 | 2 |',
    '---',
  ].join('\n\n')
  assert.equal(rewrite(reply), reply)
})

test('lists beside each other stay apart', () => {
  const list = (start: number | undefined): Block => ({
    type: 'list',
    start,
    items: [{ blocks: [{ type: 'paragraph', children: [{ type: 'text', text: 'x' }] }] }],
  })
  const trees = [
    [list(3), list(1)],
    [list(undefined), list(undefined), list(undefined)],
    [list(1), list(undefined)],
  ]
  for (const blocks of trees) assert.deepEqual(parseMarkdown(write(blocks)), blocks, write(blocks))
})

test('an image becomes a link', () => {
  assert.equal(rewrite('![a chart](https://example.com/c.png)'), '[a chart](https://example.com/c.png)')
  assert.equal(rewrite('![](https://example.com/c.png)'), '[image](https://example.com/c.png)')
  assert.equal(rewrite('Look![a](https://example.com/c.png)!'), 'Look[a](https://example.com/c.png)!')
})

test('an address that is its own label stands alone, or in brackets if it would not be read as an address', () => {
  assert.equal(
    rewrite('See https://example.com/a_b, or <ada@example.com>.'),
    'See https://example.com/a_b, or <ada@example.com>.',
  )
  assert.equal(rewrite('<https://example.com/a>b'), '<https://example.com/a>b')
})

test('surfaces without tables, headings or task boxes get code, bold lines and signs', () => {
  const writeOther = createWriter(
    markdownDialect({ tables: 'code', headings: 'strong', tasks: 'plain', rule: '———' }),
  )
  const reply = '# Title\n\n| a | b |\n|---|--:|\n| one | 1 |\n| 漢字 | 22 |\n\n- [x] done\n\n---'
  assert.equal(
    writeOther(parseMarkdown(reply)),
    '**Title**\n\n```\na    |   b\n-----|----\none  |   1\n漢字 |  22\n```\n\n- ☑ done\n\n———',
  )
  const wide = `| name | text |\n|---|---|\n| one | ${'word '.repeat(30)}|`
  assert.match(writeOther(parseMarkdown(wide)), /^\*\*name: one\*\*\n\n- text: word word/)
})

test('mentions can be neutralised, in text only or also in code', () => {
  const inert = (text: string) => text.replaceAll('@', '@\u200b')
  const writeOther = createWriter(markdownDialect({ neutralise: inert }))
  assert.equal(writeOther(parseMarkdown('Hi **@all** `@all`')), 'Hi **@\u200ball** `@all`')
  const writeBoth = createWriter(markdownDialect({ neutralise: inert, neutraliseCode: inert }))
  assert.equal(
    writeBoth(parseMarkdown('@a `@b`\n\n```\n@c\n```')),
    '@\u200ba `@\u200bb`\n\n```\n@\u200bc\n```',
  )
})

/** Without white space, which Markdown folds, and what the dialect puts for an image's missing words and a box. */
function seen(blocks: readonly Block[]): string {
  return readText(blocks).replaceAll(/\s+|image|[☐☑]/g, '')
}

test('any tree has the same text after it was written and read again', () => {
  fc.assert(
    fc.property(randomTrees, (blocks) => {
      const written = write(blocks)
      const shown = seen(parseMarkdown(written))
      assert.equal(shown, seen(blocks), written)
    }),
    { seed: 20261121, numRuns: 200 },
  )
})

test('any text of an agent reads the same after it was rewritten', () => {
  fc.assert(
    fc.property(fc.oneof(randomTexts, randomTrees.map(write)), (text) => {
      const once = rewrite(text)
      assert.equal(seen(parseMarkdown(once)), seen(parseMarkdown(text)), once)
    }),
    { seed: 20261121, numRuns: 200 },
  )
})
