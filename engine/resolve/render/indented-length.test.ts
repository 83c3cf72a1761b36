import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { indentedLength } from './output.ts'

test('the length of indented JSON is known from the compact one', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 8 }), (value, indent) => {
      const length = indentedLength(JSON.stringify(value), indent, Infinity)
      assert.equal(length, JSON.stringify(value, undefined, indent).length)
    }),
  )
})

test('marks inside texts are no marks', () => {
  const value = { 'a"],{': ['\\', '\\"', '[{,:}]', ''], b: { c: [[], {}] } }
  assert.equal(indentedLength(JSON.stringify(value), 2, Infinity), JSON.stringify(value, undefined, 2).length)
})

test('counting stops where the answer is clear', () => {
  const json = `[${'['.repeat(900)}${']'.repeat(900)}${',1'.repeat(1000)}]`
  assert.ok(indentedLength(json, 2, 10_000) < 12_000)
  assert.ok(indentedLength(json, 2, Infinity) > 1_000_000)
})
