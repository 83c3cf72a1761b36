import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDecisionIndex } from '../../compile/match/decision-index.ts'
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
  const index = createDecisionIndex(
    matches.map((match, id) => ({ path: undefined, program: programOf(`${id}`, match) })),
  )
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

test('an equality finds its value in a list of 60,000 elements at once', async () => {
  const numbers = Array.from({ length: 60_000 }, (_, index) => index)
  const matches = [{ body: { a: 'x' } }, { body: { a: { b: 1 } } }, { body: { a: 59_999 } }]
  assert.equal((await find(matches, { a: numbers })).candidate?.program.id, '2')
})

test('a thousand searches in twenty thousand texts are left to a thread', async () => {
  const texts = Array.from({ length: 20_000 }, (_, index) => `text ${index}`)
  const matches = Array.from({ length: 1_000 }, (_, index) => ({
    body: { a: { pattern: `never${index}$` } },
  }))
  const search = createSearches([...matches.slice(0, 5), { body: { b: 1 } }], { a: texts, b: 1 })
  assert.equal((await search()).candidate?.program.id, '5')
  await assert.rejects(createSearches(matches, { a: texts })(onMainLoop()), NeedsThread)
})

test('lists nested a thousand and thirty thousand levels deep are searched', async () => {
  for (const depth of [1_000, 30_000]) {
    const a: unknown = JSON.parse(`${'['.repeat(depth)}"x"${']'.repeat(depth)}`)
    const matches = [{ body: { a: { b: { c: 1 } } } }, { body: { a: { prefix: 'x' } } }]
    assert.equal((await find(matches, { a })).candidate?.program.id, '1', `${depth}`)
  }
})

test('a thousand mappings without a distinguishing equality do not hold the main loop', async () => {
  const texts = Array.from({ length: 20_000 }, (_, index) => `text ${index}`)
  const matches = Array.from({ length: 1_000 }, (_, index) => ({ body: { a: { prefix: `none ${index}` } } }))
  assert.equal((await find(matches, { a: texts })).candidate, undefined)
})

test('many mappings with many fields over many objects do not hold the main loop', async () => {
  const objects: unknown = JSON.parse(`[${'{},'.repeat(80_000)}{}]`)
  const matches = Array.from({ length: 40 }, (_, index) => ({ body: { a: { [`f${index}`]: 1 } } }))
  assert.equal((await find(matches, { a: objects })).candidate, undefined)
})

test('the time for a payload of thirty thousand keys depends on the mappings, not on the payload', async () => {
  const keys = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`k${index}`, index]))
  const matches = Array.from({ length: 1_000 }, (_, index) => ({ body: { [`q${index}`]: 1 } }))
  const found = await find([...matches, { body: { k29999: 29_999 } }], keys)
  assert.equal(found.candidate?.program.id, '1000')
})
