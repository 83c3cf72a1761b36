import assert from 'node:assert/strict'
import test from 'node:test'
import { isScalar, parseDocument } from 'yaml'
import { offsetInRaw } from './parsed-file.ts'

const spellings = {
  plain: 'Review {{pr}} now',
  'plain over two lines': 'Review\n  {{pr}} now',
  'single quotes': "'It''s {{pr}} now'",
  'double quotes': '"a \\"b\\"\\t{{pr}}\\n now"',
  literal: '|\n  first line\n\n    deeper {{pr}} now\n',
  folded: '>-\n  first line\n  second {{pr}} now\n\n  third',
}

for (const [style, spelling] of Object.entries(spellings))
  test(`a character is found in text written as ${style}`, () => {
    const source = `message: ${spelling}\n`
    const node = parseDocument(source).get('message', true)
    assert.ok(isScalar(node) && node.range)
    const raw = source.slice(node.range[0], node.range[1])
    const value = String(node.value)
    const found = offsetInRaw(raw, value, value.indexOf('{{pr}}') + 2)
    assert.equal(raw.slice(found, found + 2), 'pr')
  })

test('if an escape writes the character, the last place that could be followed is returned, and the end has one too', () =>
  assert.deepEqual([offsetInRaw('"ab\\u0041cd"', 'abAcd', 4), offsetInRaw('"ab"', 'ab', 2)], [2, 3]))
