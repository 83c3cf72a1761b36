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

/** `path: message` of each error. */
function errorsOf(value: unknown): readonly string[] {
  const { pattern, errors } = read(value)
  assert.equal(pattern === undefined, errors.length > 0, 'an error leaves no pattern')
  return errors.map(({ path, message }) => `${path.slice(2).join('/')}: ${message}`)
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

test('an empty map or list is refused at its place', () => {
  assert.deepEqual(errorsOf({}), [': must not be empty'])
  assert.deepEqual(errorsOf({ a: { b: {} } }), ['a/b: must not be an empty map'])
  assert.deepEqual(errorsOf({ a: [] }), ['a: must not be an empty list: nothing would match'])
  assert.deepEqual(errorsOf({ a: ['x', []] }), ['a/1: must not be an empty list: nothing would match'])
  assert.deepEqual(errorsOf({ a: { 'anything-but': [] } }), ['a/anything-but: must not be an empty list'])
})

test('a body that is not a map is refused', () => {
  for (const value of ['x', 5, null, ['a'], true])
    assert.deepEqual(errorsOf(value), [': must be a map of keys of the payload'])
})

test('every operand of a wrong type is refused, all at once', () => {
  const value = {
    a: { exists: 'true' },
    b: { prefix: 5 },
    c: { suffix: '' },
    d: { 'anything-but': { prefix: 'x' } },
    e: { 'anything-but': ['x', ['y']] },
    f: { pattern: 5 },
    g: Number.POSITIVE_INFINITY,
    h: [new Date(0)],
  }
  assert.deepEqual(errorsOf(value), [
    'a/exists: must be true or false',
    'b/prefix: must be text, and not empty',
    'c/suffix: must be text, and not empty',
    'd/anything-but: must be text, a number, true, false or null',
    'e/anything-but/1: must be text, a number, true, false or null',
    'f/pattern: must be a regular expression',
    'g: must be a number that JSON has: no payload holds an infinite one',
    'h/0: must be text, a number, true, false or null',
  ])
})

test('numeric takes pairs of an operator and a number', () => {
  const numeric = (operand: unknown) => errorsOf({ n: { numeric: operand } }).map((text) => text.slice(2))
  assert.deepEqual(numeric(['>', 10, '<=', 20]), [])
  assert.deepEqual(numeric(['!=', 0]), [])
  const pairs = 'numeric: must be a list of pairs, each an operator and a number'
  for (const operand of [5, '> 5', [], ['>'], ['>', 5, '<']]) assert.deepEqual(numeric(operand), [pairs])
  assert.deepEqual(numeric(['=>', 5]), ['numeric/0: must be one of = != < <= > >='])
  assert.deepEqual(numeric(['>', 5, '<', '9']), ['numeric/3: must be a number'])
  assert.deepEqual(numeric(['>', Number.NaN]), ['numeric/1: must be a number'])
})

test('bounds that no number satisfies are refused', () => {
  const nothing = ['n/numeric: holds bounds that no number satisfies together']
  const numeric = (...operand: unknown[]) => errorsOf({ n: { numeric: operand } })
  for (const bounds of [
    ['>', 5, '<', 5],
    ['>', 5, '<=', 5],
    ['>=', 6, '<=', 5],
    ['=', 5, '=', 6],
    ['=', 5, '>', 5],
    ['=', 5, '!=', 5],
    ['>=', 5, '<=', 5, '!=', 5],
  ])
    assert.deepEqual(numeric(...bounds), nothing, bounds.join(' '))
  for (const bounds of [
    ['>=', 5, '<=', 5],
    ['>', 5, '<', 6, '!=', 5.5],
    ['=', 5, '=', 5],
    ['!=', 1, '!=', 2],
  ])
    assert.deepEqual(numeric(...bounds), [], bounds.join(' '))
})

test('a field that must be absent allows no other operator', () => {
  assert.deepEqual(errorsOf({ a: { exists: false, prefix: 'x' } }), [
    'a: asks a field that is absent for more, which never holds',
  ])
  assert.deepEqual(errorsOf({ a: [{ exists: false }, { prefix: 'x' }] }), [])
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
