import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indexMappings } from '../../compile/match/decision-index.ts'
import { programOf } from '../../compile/match/fixture.ts'
import type { MappingSource } from '../../config/configuration.ts'
import { NeedsThread, onMainLoop, uncontained } from '../model/containment.ts'
import { processorMs } from '../model/processor-time.ts'
import { createScope } from '../model/scope.ts'
import { createSearch, type MatchResult } from './match.ts'

type Match = NonNullable<MappingSource['match']>

/** Three times the promised limit, because the machine may be slow. Its load does not count. */
const maxHold = 150

function createSearches(matches: readonly Match[], payload: unknown) {
  const programs = matches.map((match, id) => ({ path: undefined, program: programOf(`${id}`, match) }))
  const index = indexMappings(programs)
  const body = Buffer.alloc(200_000)
  const request = { endpoint: 'test', headers: {}, query: {}, payload, rawBody: body, now: 0 }
  return (containment = uncontained): Promise<MatchResult> =>
    createSearch(index.candidates(request), createScope(request, containment)).next()
}

/** Returns the result of a search after asserting that it did not hold the main loop, whether or not it needs a thread. */
async function find(matches: readonly Match[], payload: unknown): Promise<MatchResult> {
  await createSearches(matches.slice(0, 20), payload)()
  const search = createSearches(matches, payload)
  const began = processorMs()
  try {
    await search(onMainLoop())
  } catch (error) {
    assert.ok(error instanceof NeedsThread, String(error))
  }
  const held = processorMs() - began
  assert.ok(held < maxHold, `the main loop was held for ${held} ms`)
  return search()
}

const texts = Array.from({ length: 20_000 }, (_, index) => `text ${index}`)
const many = (count: number, match: (index: number) => Match) =>
  Array.from({ length: count }, (_, index) => match(index))
const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}"x"${']'.repeat(depth)}`)
const deep = [{ body: { a: { b: { c: 1 } } } }, { body: { a: { prefix: 'x' } } }]
const keys = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`k${index}`, index]))

const numbers = [...Array(60_000).keys()]
const prefixes = many(1_000, (index) => ({ body: { a: { prefix: `none ${index}` } } }))
const fields = many(40, (index) => ({ body: { a: { [`f${index}`]: 1 } } }))
const oneOfMany = [...many(1_000, (index) => ({ body: { [`q${index}`]: 1 } })), { body: { k29999: 29_999 } }]

for (const [what, matches, payload, found] of [
  ['an equality in a list', [{ body: { a: 'x' } }, { body: { a: 59_999 } }], { a: numbers }, '1'],
  ['lists nested a thousand levels deep', deep, { a: nested(1_000) }, '1'],
  ['lists nested thirty thousand levels deep', deep, { a: nested(30_000) }, '1'],
  ['a thousand mappings without an equality', prefixes, { a: texts }],
  ['many fields over many objects', fields, { a: Array(80_000).fill({}) }],
  ['thirty thousand keys', oneOfMany, keys, '1000'],
] as [string, Match[], unknown, string?][])
  test(`${what} do not hold the main loop`, async () =>
    assert.equal((await find(matches, payload)).candidate?.program.id, found))

test('a thousand searches in twenty thousand texts are left to a thread', async () => {
  const matches = many(1_000, (index) => ({ body: { a: { pattern: `never${index}$` } } }))
  const search = createSearches([...matches.slice(0, 5), { body: { b: 1 } }], { a: texts, b: 1 })
  assert.equal((await search()).candidate?.program.id, '5')
  await assert.rejects(createSearches(matches, { a: texts })(onMainLoop()), NeedsThread)
})
