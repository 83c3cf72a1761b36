import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MappingSource } from '../../config/configuration.ts'
import type { HookRequest } from '../../resolve/model/decision.ts'
import type { Candidate } from '../../resolve/model/program.ts'
import { requestOf } from '../fixture.ts'
import { createDecisionIndex, type DecisionIndex, type Indexed } from './decision-index.ts'
import { programOf } from './fixture.ts'

type Match = NonNullable<MappingSource['match']>

const indexed = (id: string, match: Match = {}): Indexed => ({
  path: match.path,
  program: programOf(id, match),
})

const indexOf = (mappings: Readonly<Record<string, Match>>): DecisionIndex =>
  createDecisionIndex(Object.entries(mappings).map(([id, match]) => indexed(id, match)))

function asked(index: DecisionIndex, payload: unknown, request?: Partial<HookRequest>): Candidate[] {
  const candidates = index.candidates(requestOf(payload, request))
  const all: Candidate[] = []
  for (let each = candidates.next(); each !== undefined; each = candidates.next()) all.push(each)
  return all
}

const idsOf = (candidates: readonly Candidate[]) => candidates.map(({ program }) => program.id)

const many = (count: number, matchOf: (position: number) => Match): Indexed[] =>
  Array.from({ length: count }, (_, position) => indexed(`m${position}`, matchOf(position)))

test('an endpoint’s candidates are its own mappings and the catch-alls, in order', () => {
  const index = indexOf({ a1: { path: 'a' }, any1: {}, b1: { path: 'b' }, a2: { path: 'a' }, any2: {} })
  const ids = (endpoint: string) => idsOf(asked(index, {}, { endpoint }))
  assert.deepEqual(ids('a'), ['a1', 'any1', 'a2', 'any2'])
  assert.deepEqual(ids('b'), ['any1', 'b1', 'any2'])
  assert.deepEqual(ids('other'), ['any1', 'any2'])
})

test('no mapping covers a built-in endpoint, whatever its path', () => {
  const index = indexOf({ any: {}, one: { path: ':name' } })
  for (const endpoint of ['wake', 'agent']) {
    assert.equal(index.covers(endpoint), false)
    assert.deepEqual(asked(index, {}, { endpoint }), [])
    assert.deepEqual(index.covering(endpoint), [])
  }
})

test('a parameter takes exactly one segment that is not empty, and returns it', () => {
  const index = indexOf({ repo: { path: 'git/:owner/:repo' } })
  const params = (endpoint: string) => asked(index, {}, { endpoint })[0]?.params
  assert.deepEqual(params('git/ann/lamp'), { owner: 'ann', repo: 'lamp' })
  assert.deepEqual(params('git/__proto__/constructor'), { owner: '__proto__', repo: 'constructor' })
  for (const endpoint of ['git', 'git/ann', 'git/ann/', 'git//lamp', 'git/ann/lamp/x', 'Git/ann/lamp']) {
    assert.equal(params(endpoint), undefined, endpoint)
    assert.equal(index.covers(endpoint), false, endpoint)
  }
})

test('an exact path, paths with parameters and catch-alls are tried in the order of their mappings', () => {
  const index = indexOf({
    any: {},
    second: { path: 'git/:repo' },
    exact: { path: 'git/lamp' },
    both: { path: ':host/:repo' },
    renamed: { path: 'git/:name' },
  })
  const found = asked(index, {}, { endpoint: 'git/lamp' })
  assert.deepEqual(idsOf(found), ['any', 'second', 'exact', 'both', 'renamed'])
  assert.deepEqual(
    found.map(({ params }) => params),
    [{}, { repo: 'lamp' }, {}, { host: 'git', repo: 'lamp' }, { name: 'lamp' }],
  )
  assert.deepEqual(idsOf(index.covering('git/lamp')), ['any', 'second', 'exact', 'both', 'renamed'])
})

test('ten thousand mappings have as few candidates as ten', () => {
  const kinds: Record<
    string,
    { match: (n: number) => Match; request: Partial<HookRequest>; payload: unknown }
  > = {
    'a field': { match: (n) => ({ body: { repo: { id: n } } }), payload: { repo: { id: 7 } }, request: {} },
    'a list of values': { match: (n) => ({ body: { id: [n, `${n}`] } }), payload: { id: '7' }, request: {} },
    'an element of a list': {
      match: (n) => ({ body: { labels: { name: `l${n}` } } }),
      payload: { labels: [{ name: 'other' }, { name: 'l7' }] },
      request: {},
    },
    'a source': { match: (n) => ({ source: `s${n}` }), payload: { source: 's7' }, request: {} },
    'a header': {
      match: (n) => ({ headers: { 'X-Id': `${n}` } }),
      payload: {},
      request: { headers: { 'x-id': '7' } },
    },
    'an endpoint': { match: (n) => ({ path: `e${n}` }), payload: {}, request: { endpoint: 'e7' } },
    'a parameter': { match: (n) => ({ path: `e${n}/:x` }), payload: {}, request: { endpoint: 'e7/y' } },
    'the name of a field': {
      match: (n) => ({ body: { [`f${n}`]: true } }),
      payload: { f7: true },
      request: {},
    },
  }
  for (const [kind, { match, payload, request }] of Object.entries(kinds)) {
    for (const count of [10, 10_000]) {
      const index = createDecisionIndex(many(count, match))
      assert.deepEqual(idsOf(asked(index, payload, request)), ['m7'], `${kind}, ${count} mappings`)
    }
  }
})

test('a mapping is filed under the equality that it shares with the fewest others', () => {
  const mappings = many(1000, (n) => ({
    source: 'github',
    headers: { 'x-github-event': ['push', 'pull_request'][n % 2] as string },
    body: { action: 'opened', repository: { full_name: `ann/${n}` } },
  }))
  const payload = { source: 'github', action: 'opened', repository: { full_name: 'ann/9' } }
  const headers = { 'x-github-event': 'pull_request' }
  assert.deepEqual(idsOf(asked(createDecisionIndex(mappings), payload, { headers })), ['m9'])
})

test('mappings without an equality keep their place among the candidates', () => {
  const mappings = many(100, (n) => ({ body: n % 40 === 5 ? { id: { exists: true } } : { id: n } }))
  assert.deepEqual(idsOf(asked(createDecisionIndex(mappings), { id: 50 })), ['m5', 'm45', 'm50', 'm85'])
})

test('a mapping that several values lead to is tried once', () => {
  const mappings = many(10, (n) => ({ body: { tags: ['x', 'y', `z${n}`] } }))
  const ids = idsOf(asked(createDecisionIndex(mappings), { tags: ['y', ['x', 'x'], 'z3'] }))
  assert.deepEqual(
    ids,
    Array.from({ length: 10 }, (_, n) => `m${n}`),
  )
})

test('fields and headers with the names of inherited properties lead to no inherited value', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']
  const ofBody = names.map((name) =>
    indexed(name, { body: Object.fromEntries([[name, { name: 'Object' }]]) }),
  )
  assert.deepEqual(asked(createDecisionIndex(ofBody), {}), [])
  assert.deepEqual(idsOf(asked(createDecisionIndex(ofBody), '{"__proto__": {"name": "Object"}}')), [
    '__proto__',
  ])
  const ofHeader = names.map((name) => indexed(name, { headers: { [name.toLowerCase()]: 'x' } }))
  assert.deepEqual(asked(createDecisionIndex(ofHeader), {}), [])
})

test('the number of mappings that cover an endpoint does not depend on the payload', () => {
  const index = createDecisionIndex([...many(100, (n) => ({ path: 'a', body: { id: n } })), indexed('any')])
  assert.equal(index.candidates(requestOf({ id: 5 }, { endpoint: 'a' })).covering, 101)
  assert.equal(index.covering('a').length, 101)
  assert.equal(index.candidates(requestOf({}, { endpoint: 'b' })).covering, 1)
})
