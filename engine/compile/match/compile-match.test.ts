import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MappingSource } from '../../config/configuration.ts'
import type { HookRequest } from '../../resolve/model/decision.ts'
import { ClauseError, type Verdict } from '../../resolve/model/program.ts'
import { createScope } from '../../resolve/model/scope.ts'
import { requestOf } from '../fixture.ts'
import { programOf } from './fixture.ts'

type Match = MappingSource['match']

async function verdictOf(match: Match, payload: unknown, request?: Partial<HookRequest>): Promise<Verdict> {
  const { matcher } = programOf('a', match)
  return matcher.matches(createScope(requestOf(payload, request)))
}

/** Returns the positions of the payloads that match. */
async function matching(match: Match, ...payloads: readonly unknown[]): Promise<readonly number[]> {
  const verdicts = await Promise.all(payloads.map((payload) => verdictOf(match, payload)))
  return verdicts.flatMap((verdict, index) => (verdict === true ? [index] : []))
}

const bodyMatching = (body: Readonly<Record<string, unknown>>, ...payloads: readonly unknown[]) =>
  matching({ body }, ...payloads)

async function headersMatching(
  headers: NonNullable<Match>['headers'],
  ...given: readonly HookRequest['headers'][]
): Promise<readonly number[]> {
  const verdicts = await Promise.all(given.map((each) => verdictOf({ headers }, {}, { headers: each })))
  return verdicts.flatMap((verdict, index) => (verdict === true ? [index] : []))
}

// --- absent fields ---

test('exists: true matches a field that is present, whatever its value', async () => {
  const there = [{ a: 1 }, { a: '' }, { a: false }, { a: [] }, { a: {} }]
  assert.deepEqual(await bodyMatching({ a: { exists: true } }, ...there), [0, 1, 2, 3, 4])
  assert.deepEqual(await bodyMatching({ a: { exists: true } }, {}, { b: 1 }, [], '"a"'), [])
})

test('exists: false matches an absent field only', async () => {
  assert.deepEqual(await bodyMatching({ a: { exists: false } }, {}, { b: 1 }, { a: 1 }, { a: [] }), [0, 1])
  assert.deepEqual(
    await bodyMatching({ a: { b: { exists: false } } }, {}, { a: 5 }, { a: {} }, { a: { b: 0 } }),
    [0, 1, 2],
  )
})

test('a null that is present exists, and equals null', async () => {
  assert.deepEqual(await bodyMatching({ a: { exists: true } }, { a: null }), [0])
  assert.deepEqual(await bodyMatching({ a: { exists: false } }, { a: null }), [])
  assert.deepEqual(await bodyMatching({ a: null }, { a: null }, {}, { a: 'null' }, { a: 0 }), [0])
  assert.deepEqual(await bodyMatching({ a: { 'anything-but': 'x' } }, { a: null }), [0])
})

test('an absent field equals nothing, and is in no list', async () => {
  assert.deepEqual(await bodyMatching({ a: 'x' }, {}, { b: 'x' }), [])
  assert.deepEqual(await bodyMatching({ a: ['x', null, ''] }, {}, { b: 'x' }), [])
  assert.deepEqual(await bodyMatching({ a: { b: 'x' } }, {}, { a: 'x' }, { a: null }), [])
})

test('a list of patterns matches an absent field if one of them is exists: false', async () => {
  assert.deepEqual(await bodyMatching({ a: ['x', { exists: false }] }, {}, { a: 'x' }, { a: 'y' }), [0, 1])
})

test('anything-but is false of an absent field', async () => {
  const values = { 'anything-but': ['x', 5] }
  assert.deepEqual(
    await bodyMatching({ a: values }, {}, { a: 'x' }, { a: 5 }, { a: 'y' }, { a: '5' }),
    [3, 4],
  )
})

test('prefix and suffix are false for an absent field, and for a value that is not a text', async () => {
  for (const operator of ['prefix', 'suffix']) {
    const payloads = [{}, { a: 5 }, { a: null }, { a: { 5: 5 } }, { a: '5' }]
    assert.deepEqual(await bodyMatching({ a: { [operator]: '5' } }, ...payloads), [4], operator)
  }
})

test('numeric is false of an absent field, and refuses text', async () => {
  const between = { numeric: ['>', 10, '<=', 20] }
  const payloads = [{}, { a: '15' }, { a: null }, { a: true }, { a: 10 }, { a: 10.5 }, { a: 20 }, { a: 21 }]
  assert.deepEqual(await bodyMatching({ a: between }, ...payloads), [5, 6])
})

test('pattern is false for an absent field, and for a value that is not a text', async () => {
  const payloads = [{}, { a: 5 }, { a: null }, { a: 'v5' }, { a: 'x v5' }]
  assert.deepEqual(await bodyMatching({ a: { pattern: '^v[0-9]$' } }, ...payloads), [3])
})

test('an absent source equals nothing', async () => {
  assert.deepEqual(await matching({ source: 'null' }, {}, { source: null }, 'null', [{ source: 'null' }]), [])
})

test('of the forms for headers only exists: false matches an absent header', async () => {
  const given = [{}, { a: 'x' }, { a: '' }, { a: ['y', 'x'] }]
  assert.deepEqual(await headersMatching({ a: 'x' }, ...given), [1, 3])
  assert.deepEqual(await headersMatching({ a: ['x', ''] }, ...given), [1, 2, 3])
  assert.deepEqual(await headersMatching({ a: { exists: true } }, ...given), [1, 2, 3])
  assert.deepEqual(await headersMatching({ a: { exists: false } }, ...given), [0])
  assert.deepEqual(await headersMatching({ a: { pattern: '^x$' } }, ...given), [1, 3])
  assert.deepEqual(await headersMatching({ a: { exists: true, pattern: '^$' } }, ...given), [2])
})

test('no test reaches a prototype', async () => {
  for (const name of ['toString', 'constructor', '__proto__', 'length']) {
    assert.deepEqual(await bodyMatching({ [name]: { exists: true } }, {}, { a: [] }, '"text"'), [], name)
  }
  const pattern = JSON.parse('{"__proto__": {"admin": true}}')
  assert.deepEqual(await bodyMatching(pattern, '{"__proto__": {"admin": true}}', '{"admin": true}'), [0])
})

// --- lists ---

test('if the payload holds a list, any of its elements may match, also in lists of lists', async () => {
  const payloads = [{ a: ['x', 'y'] }, { a: [['z', ['y']]] }, { a: ['x'] }, { a: [] }]
  for (const wanted of ['y', ['y', 'w'], { prefix: 'y' }, { pattern: '^y$' }])
    assert.deepEqual(await bodyMatching({ a: wanted }, ...payloads), [0, 1], JSON.stringify(wanted))
  assert.deepEqual(await bodyMatching({ a: { 'anything-but': 'x' } }, ...payloads), [0, 1])
  assert.deepEqual(await bodyMatching({ a: 'y' }, [{ a: 'x' }, { a: 'y' }]), [0])
})

test('several operators must hold for the same element', async () => {
  const both = { prefix: 'a', suffix: 'z' }
  assert.deepEqual(
    await bodyMatching({ a: both }, { a: ['ab', 'yz'] }, { a: ['b', 'az'] }, { a: 'az' }),
    [1, 2],
  )
})

test('under a list the same element must have all keys', async () => {
  const body = { items: { sku: 'a', count: { numeric: ['>', 1] } } }
  const apart = {
    items: [
      { sku: 'a', count: 1 },
      { sku: 'b', count: 2 },
    ],
  }
  const together = { items: [{ sku: 'b', count: 1 }, [{ sku: 'a', count: 2 }]] }
  assert.deepEqual(await bodyMatching(body, apart, together), [1])
})

test('an empty list has no element that lacks a field', async () => {
  const body = { items: { sku: { exists: false } } }
  assert.deepEqual(await bodyMatching(body, { items: [] }, { items: [{ sku: 1 }, {}] }, {}), [1, 2])
})

test('equality is that of JSON: a text never equals a number', async () => {
  assert.deepEqual(await bodyMatching({ a: '42' }, { a: 42 }, { a: '42' }), [1])
  assert.deepEqual(
    await bodyMatching({ a: [42, true] }, { a: '42' }, { a: 'true' }, { a: 42 }, { a: true }),
    [2, 3],
  )
})

// --- what cannot be decided ---

test('a text that is too long to be searched does not match, and the reason says so', async () => {
  const verdict = await verdictOf({ body: { a: { b: { pattern: 'x' } } } }, { a: { b: 'x'.repeat(300_000) } })
  assert.ok(verdict instanceof ClauseError)
  assert.equal(verdict.clause, 'match.body.a.b.pattern')
  assert.doesNotMatch(verdict.message, /xxx/)
})
