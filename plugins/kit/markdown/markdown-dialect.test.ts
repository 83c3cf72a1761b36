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
