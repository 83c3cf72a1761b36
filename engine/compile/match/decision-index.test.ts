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

test('no mapping covers a built-in endpoint, whatever its path', () => {
  const index = indexOf({ any: {}, one: { path: ':name' } })
  for (const endpoint of ['wake', 'agent']) {
    assert.equal(index.count(endpoint), 0)
    assert.deepEqual(asked(index, {}, { endpoint }), [])
    assert.deepEqual(index.covering(endpoint), [])
  }
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

test('the number of mappings that cover an endpoint does not depend on the payload', () => {
  const index = createDecisionIndex([...many(100, (n) => ({ path: 'a', body: { id: n } })), indexed('any')])
  assert.equal(index.candidates(requestOf({ id: 5 }, { endpoint: 'a' })).covering, 101)
  assert.equal(index.covering('a').length, 101)
  assert.equal(index.candidates(requestOf({}, { endpoint: 'b' })).covering, 1)
})
