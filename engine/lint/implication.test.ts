import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { silent } from '../compile/fields/report.ts'
import { compileMatch } from '../compile/match/compile-match.ts'
import { headerPattern, pattern, payload, scalar, text } from '../compile/match/random-fixture.ts'
import type { MappingSource } from '../config/configuration.ts'
import type { HeaderPattern } from '../config/schema/mapping-schema.ts'
import { createScope } from '../resolve/model/scope.ts'
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

/** One test on one value, of so few that two of them are often related. */
const single = fc.oneof(
  scalar,
  fc.record({ exists: fc.boolean() }),
  fc.record({ prefix: text }),
  fc.record({ suffix: text }),
  fc.record({ 'anything-but': fc.uniqueArray(text, { minLength: 1, maxLength: 2 }) }),
  fc.record({
    numeric: fc.tuple(fc.constantFrom('=', '!=', '<', '<=', '>', '>='), fc.integer({ min: 0, max: 2 })),
  }),
  fc.record({ b: fc.record({ exists: fc.boolean() }) }),
)

const key = fc.constantFrom('a', 'b', 'source')
const anyMatch: fc.Arbitrary<Match> = fc.record(
  {
    source: text,
    headers: fc.dictionary(fc.constantFrom('h', 'i'), headerPattern, { maxKeys: 2 }),
    body: fc.dictionary(key, pattern, { minKeys: 1, maxKeys: 2 }),
  },
  { requiredKeys: [] },
)

/** Pairs a match with one that asks for less, so that implications are found often. */
const pair = fc.tuple(anyMatch, anyMatch, fc.boolean()).map(([given, other, related]): [Match, Match] => {
  if (!related) return [given, other]
  const keys = Object.keys(given.body ?? {})
  const kept = Object.fromEntries(keys.slice(0, 1).map((name) => [name, given.body?.[name]]))
  return [given, { ...(keys.length > 0 ? { body: kept } : {}), headers: given.headers }]
})

const request = fc.record({
  payload,
  headers: fc.dictionary(fc.constantFrom('h', 'i'), fc.oneof(text, fc.array(text, { maxLength: 2 })), {
    maxKeys: 2,
  }),
})

/** Returns undefined where the match does not compile. */
function compile(match: Match): ((of: { payload: unknown; headers: object }) => boolean) | undefined {
  let sound = true
  const error = () => {
    sound = false
  }
  const { matches } = compileMatch(match, { ...silent, error })
  if (!sound) return undefined
  return ({ payload, headers }) => {
    const rest = { endpoint: 'e', query: {}, rawBody: new Uint8Array(), now: 0 }
    const scope = createScope({ ...rest, payload, headers: headers as Record<string, string> })
    return matches(scope) === true
  }
}

test('no request satisfies a match without satisfying those that it is said to imply', () => {
  let found = 0
  const property = fc.property(
    pair,
    fc.array(request, { minLength: 20, maxLength: 20 }),
    ([given, wanted], requests) => {
      const narrow = compile(given)
      const wide = compile(wanted)
      if (narrow === undefined || wide === undefined || !implied(given, wanted)) return
      for (const one of requests) {
        if (!narrow(one)) continue
        found++
        assert.ok(wide(one), JSON.stringify({ given, wanted, one }))
      }
    },
  )
  fc.assert(property, { numRuns: 3000, seed: 42 })
  assert.ok(found > 300, `${found} requests were compared`)
})

test('whatever a single pattern matches, the patterns that it implies match too', () => {
  let found = 0
  const values = fc.array(payload, { minLength: 30, maxLength: 30 })
  const some = fc.oneof(single, pattern, fc.array(single, { minLength: 2, maxLength: 2 }))
  const property = fc.property(some, some, values, (given, wanted, samples) => {
    const one = { body: { x: given } }
    const other = { body: { x: wanted } }
    const narrow = compile(one)
    const wide = compile(other)
    if (narrow === undefined || wide === undefined || !implied(one, other)) return
    for (const sample of [...samples.map((x) => ({ x })), {}, { x: [] }, { x: {} }, [{ x: 'a' }]]) {
      if (!narrow({ payload: sample, headers: {} })) continue
      found++
      assert.ok(wide({ payload: sample, headers: {} }), JSON.stringify({ given, wanted, sample }))
    }
  })
  fc.assert(property, { numRuns: 5000, seed: 7 })
  assert.ok(found > 300, `${found} values were compared`)
})
