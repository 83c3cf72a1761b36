import assert from 'node:assert/strict'
import { test } from 'node:test'
import { harmlessLength, maxDepth, nestsTooDeep } from './nesting.ts'

const long = ' '.repeat(harmlessLength)

test('nesting is bounded, of lists and of objects alike', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const nested = (depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}${long}`
    assert.equal(nestsTooDeep(nested(maxDepth)), false)
    assert.equal(nestsTooDeep(nested(maxDepth + 1)), true)
  }
})

test('what stands side by side, or within a text, does not nest', () => {
  assert.equal(nestsTooDeep(`[${'[],{},'.repeat(maxDepth)}0]${long}`), false)
  assert.equal(nestsTooDeep(`"\\"${'['.repeat(2 * maxDepth)}\\\\"${long}`), false)
  assert.equal(nestsTooDeep(`"\\\\"${'['.repeat(2 * maxDepth)}${long}`), true)
})
