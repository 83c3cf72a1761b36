import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from '../fields/report.ts'
import type { KeysPattern } from './pattern.ts'
import { readBody } from './read-pattern.ts'

interface LoadContext {
  readonly pattern: KeysPattern | undefined
  readonly errors: readonly Finding[]
  readonly warnings: readonly Finding[]
}

function read(value: unknown): LoadContext {
  const errors: Finding[] = []
  const warnings: Finding[] = []
  const report = {
    error: (found: Finding) => errors.push(found),
    warn: (found: Finding) => warnings.push(found),
  }
  return { pattern: readBody(value, ['match', 'body'], report), errors, warnings }
}

function kindOf(value: unknown): string | undefined {
  const { pattern } = read({ field: value })
  return pattern?.keys[0]?.[1].kind
}

test('an object is operators if all of its keys are, and keys otherwise', () => {
  assert.equal(kindOf({ prefix: 'a' }), 'operators')
  assert.equal(kindOf({ prefix: 'a', suffix: 'b' }), 'operators')
  assert.equal(kindOf({ prefixes: 'a' }), 'keys')
  assert.equal(kindOf({ prefix: 'a', other: 'b' }), 'keys')
  assert.equal(kindOf('a'), 'values')
  assert.equal(kindOf(['a', { prefix: 'b' }]), 'any')
})

test('the top level lists keys, even if they have the names of operators', () => {
  const { pattern, warnings } = read({ exists: true, prefix: 'a' })
  assert.deepEqual(
    pattern?.keys.map(([key]) => key),
    ['exists', 'prefix'],
  )
  assert.deepEqual(warnings, [])
})

test('a map with both operators and other keys gives a warning', () => {
  const { warnings } = read({ ref: { prefix: 'refs/', sufix: 'x' } })
  assert.deepEqual(
    warnings.map(({ code, path, message }) => [code, path, message]),
    [
      [
        'MIXED_PATTERN',
        ['match', 'body', 'ref'],
        'takes `prefix` for keys of the payload, because `sufix` beside it is no operator',
      ],
    ],
  )
})

test('a bad regular expression is reported with its place in the text', () => {
  const { errors } = read({ ref: { pattern: 'v(' } })
  assert.equal(errors[0]?.code, 'INVALID_REGEX')
  assert.deepEqual(errors[0]?.path, ['match', 'body', 'ref', 'pattern'])
  assert.equal(typeof errors[0]?.offset, 'number')
})

test('cheap tests are run before regular expressions', () => {
  const { pattern } = read({ a: { pattern: 'x' }, b: { c: { pattern: 'y' } }, d: { prefix: 'z' }, e: 1 })
  assert.deepEqual(
    pattern?.keys.map(([key]) => key),
    ['e', 'd', 'a', 'b'],
  )
})

test('a key named __proto__ is a key', () => {
  const { pattern } = read(JSON.parse('{"__proto__": {"a": 1}}'))
  assert.deepEqual(
    pattern?.keys.map(([key]) => key),
    ['__proto__'],
  )
})
