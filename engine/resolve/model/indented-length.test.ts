import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { indentedLength } from './output.ts'

test('the length of indented JSON is computed from the compact JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 8 }), (value, indent) => {
      const length = indentedLength(JSON.stringify(value), indent, Infinity)
      assert.equal(length, JSON.stringify(value, undefined, indent).length)
    }),
  )
})

test('brackets inside texts are not counted', () => {
  const value = { 'a"],{': ['\\', '\\"', '[{,:}]', ''], b: { c: [[], {}] } }
  assert.equal(indentedLength(JSON.stringify(value), 2, Infinity), JSON.stringify(value, undefined, 2).length)
})

test('counting stops once the limit is exceeded', () => {
  const json = `[${'['.repeat(900)}${']'.repeat(900)}${',1'.repeat(1000)}]`
  assert.ok(indentedLength(json, 2, 10_000) < 12_000)
  assert.ok(indentedLength(json, 2, Infinity) > 1_000_000)
})
