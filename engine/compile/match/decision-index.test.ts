import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MappingSource } from '../../config/configuration.ts'
import type { HookRequest } from '../../resolve/model/decision.ts'
import type { Candidate } from '../../resolve/model/program.ts'
import { requestOf } from '../fixture.ts'
import { type DecisionIndex, type Indexed, indexMappings } from './decision-index.ts'
import { programOf } from './fixture.ts'

type Match = NonNullable<MappingSource['match']>

const indexed = (id: string, match: Match = {}): Indexed => ({
  path: match.path,
  program: programOf(id, match),
})

const indexOf = (mappings: Readonly<Record<string, Match>>): DecisionIndex =>
  indexMappings(Object.entries(mappings).map(([id, match]) => indexed(id, match)))

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
  /** The matches, and a payload that the seventh of them fits. */
  const kinds: readonly (readonly [match: (n: number) => Match, payload: unknown, Partial<HookRequest>?])[] =
    [
      [(n) => ({ body: { repo: { id: n } } }), { repo: { id: 7 } }],
      [(n) => ({ body: { id: [n, `${n}`] } }), { id: '7' }],
      [(n) => ({ body: { labels: { name: `l${n}` } } }), { labels: [{ name: 'other' }, { name: 'l7' }] }],
      [(n) => ({ source: `s${n}` }), { source: 's7' }],
      [(n) => ({ headers: { 'X-Id': `${n}` } }), {}, { headers: { 'x-id': '7' } }],
      [(n) => ({ path: `e${n}` }), {}, { endpoint: 'e7' }],
      [(n) => ({ path: `e${n}/:x` }), {}, { endpoint: 'e7/y' }],
      [(n) => ({ body: { [`f${n}`]: true } }), { f7: true }],
    ]
  for (const [match, payload, request] of kinds)
    for (const count of [10, 10_000]) {
      const index = indexMappings(many(count, match))
      assert.deepEqual(
        idsOf(asked(index, payload, request)),
        ['m7'],
        `${JSON.stringify(match(0))}, ${count} mappings`,
      )
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
  assert.deepEqual(idsOf(asked(indexMappings(mappings), payload, { headers })), ['m9'])
})

test('the number of mappings that cover an endpoint does not depend on the payload', () => {
  const index = indexMappings([...many(100, (n) => ({ path: 'a', body: { id: n } })), indexed('any')])
  assert.equal(index.candidates(requestOf({ id: 5 }, { endpoint: 'a' })).covering, 101)
  assert.equal(index.covering('a').length, 101)
  assert.equal(index.candidates(requestOf({}, { endpoint: 'b' })).covering, 1)
})
