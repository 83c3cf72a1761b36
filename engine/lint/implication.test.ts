import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MappingSource } from '../config/configuration.ts'
import type { HeaderPattern } from '../config/schema/mapping-schema.ts'
import { impliesMatch, readClauses } from './implication.ts'

type Match = NonNullable<MappingSource['match']>

function implied(given: Match, wanted: Match): boolean {
  return impliesMatch(readClauses(given), readClauses(wanted))
}

function body(given: unknown, wanted: unknown): boolean {
  return implied({ body: { a: given } }, { body: { a: wanted } })
}

test('equal and narrower values are implied, others are not', () => {
  assert.ok(body('x', 'x'))
  assert.ok(body('x', ['y', 'x']))
  assert.ok(body(['x', 'y'], ['y', 'z', 'x']))
  assert.ok(!body(['x', 'y'], 'x'))
  assert.ok(!body('x', 'y'))
  assert.ok(!body(1, '1'))
})

test('a value passes the operators that hold for it', () => {
  assert.ok(body('refs/tags/v1', { prefix: 'refs/tags/' }))
  assert.ok(body('refs/tags/v1', { suffix: 'v1', 'anything-but': 'main', exists: true }))
  assert.ok(body('v12', { pattern: '^v[0-9]+$' }))
  assert.ok(body(15, { numeric: ['>', 10, '<=', 20] }))
  assert.ok(!body('15', { numeric: ['>', 10] }))
  assert.ok(!body('x', { exists: false }))
})

test('an operator implies the same one', () => {
  for (const same of [
    { prefix: 'a' },
    { numeric: ['>', 10] },
    { 'anything-but': ['a', 'b'] },
    { pattern: '^v' },
  ])
    assert.ok(body(same, same), JSON.stringify(same))
  assert.ok(!body({ numeric: ['>=', 10] }, { numeric: ['>', 10] }))
  assert.ok(!body({ pattern: '^v' }, { pattern: '^w' }))
  assert.ok(!body({ 'anything-but': 'a' }, { 'anything-but': ['a', 'b'] }))
})

test('every test of a value implies that the value exists; keys that may all be absent do not', () => {
  for (const given of ['x', ['x', 1], { prefix: 'x' }, { numeric: ['>', 1] }])
    assert.ok(body(given, { exists: true }), JSON.stringify(given))
  assert.ok(!body({ b: { exists: false } }, { exists: true }))
  assert.ok(!body([{ exists: false }, 'x'], { exists: true }))
})

test('all wanted keys must be implied, each by its own', () => {
  assert.ok(body({ b: 1, c: 2 }, { b: 1 }))
  assert.ok(!body({ b: 1 }, { b: 1, c: 2 }))
  assert.ok(implied({ source: 's', body: { a: 1 } }, { body: { a: 1, source: ['s', 't'] } }))
  assert.ok(!implied({ body: { source: 's' } }, { source: 's' }))
})

test('an expression is implied by the same text only, and never where it is random', () => {
  assert.ok(implied({ when: 'a = 1' }, { when: '{% a = 1 %}' }))
  assert.ok(!implied({ when: 'a = 1' }, { when: '1 = a' }))
  assert.ok(!implied({}, { when: 'a = 1' }))
  assert.ok(!implied({ when: '$random() < 0.5' }, { when: '$random() < 0.5' }))
})

test('a path covers the paths that its parameters fit, and no path covers all', () => {
  assert.ok(implied({ path: 'a' }, {}))
  assert.ok(implied({ path: 'a/b' }, { path: 'a/:x' }))
  assert.ok(implied({ path: 'a/:y' }, { path: ':z/:x' }))
  assert.ok(!implied({ path: 'a/:y' }, { path: 'a/b' }))
  assert.ok(!implied({ path: 'a/b' }, { path: ':x' }))
  assert.ok(!implied({}, { path: 'a' }))
})

test('a header implies those that its every value satisfies', () => {
  const header = (given: HeaderPattern, wanted: HeaderPattern) =>
    implied({ headers: { h: given } }, { headers: { h: wanted } })
  assert.ok(header('push', ['push', 'ping']))
  assert.ok(header(['push', 'ping'], { exists: true }))
  assert.ok(header('push', { pattern: '^pu' }))
  assert.ok(header({ pattern: '^pu' }, { exists: true }))
  assert.ok(!header(['push', 'ping'], 'push'))
  assert.ok(!header({ exists: true }, { pattern: '^pu' }))
  assert.ok(!header('push', { exists: false }))
  assert.ok(!implied({}, { headers: { h: { exists: false } } }))
})
