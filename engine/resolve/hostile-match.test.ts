import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDecisionIndex } from '../compile/match/decision-index.ts'
import { programOf } from '../compile/match/fixture.ts'
import type { MappingSource } from '../config/configuration.ts'
import { createSearch, type Found } from './match.ts'
import { createScope } from './scope.ts'
import { type Watched, watchTurns } from './watch-turns.ts'

type Match = NonNullable<MappingSource['match']>

/** Three times what is promised: the machine may be slow, though its load does not count. */
const longestTurn = 150

async function search(matches: readonly Match[], payload: unknown): Promise<Watched<Found>> {
  const index = createDecisionIndex(
    matches.map((match, id) => ({ path: undefined, program: programOf(`${id}`, match) })),
  )
  const body = Buffer.alloc(1_000_000)
  const request = { endpoint: 'test', headers: {}, query: {}, payload, rawBody: body, now: 0 }
  return await watchTurns(() => createSearch(index.candidates(request), createScope(request)).next())
}

/** One search to warm up: what is compiled for the first time is slower than any attack. */
async function expectTurns(matches: readonly Match[], payload: unknown): Promise<Watched<Found>> {
  await search(matches.slice(0, 20), payload)
  const searched = await search(matches, payload)
  assert.ok(searched.longest < longestTurn, `${searched.longest} ms went by without a turn for anything else`)
  return searched
}

const failuresOf = (found: Found) => (found.candidate === undefined ? found.failures : [])

test('a list of 500,000 elements is searched by an equality at once', async () => {
  const numbers = Array.from({ length: 500_000 }, (_, index) => index)
  const { result: found } = await expectTurns(
    [{ body: { a: 'x' } }, { body: { a: { b: 1 } } }, { body: { a: 499_999 } }],
    {
      a: numbers,
    },
  )
  assert.equal(found.candidate?.program.id, '2')
})

test('a hundred thousand texts and a regular expression end with an error, not with a stall', async () => {
  const texts = Array.from({ length: 100_000 }, (_, index) => `text ${index}`)
  const searched = await expectTurns(
    [{ body: { a: { pattern: 'never$' } } }, { body: { a: { exists: false } } }],
    {
      a: texts,
    },
  )
  assert.deepEqual(
    failuresOf(searched.result).map(({ mapping, error }) => [mapping, error.clause, error.message]),
    [['0', 'match.body', 'the payload holds too much to look at']],
  )
})

test('a mapping that cannot be decided does not keep later ones from matching', async () => {
  const texts = Array.from({ length: 100_000 }, (_, index) => `text ${index}`)
  const { result: found } = await expectTurns([{ body: { a: { pattern: 'never$' } } }, { body: { b: 1 } }], {
    a: texts,
    b: 1,
  })
  assert.equal(found.candidate?.program.id, '1')
})

test('lists in lists a thousand levels deep, and thirty thousand, are looked through', async () => {
  for (const depth of [1_000, 30_000]) {
    const a: unknown = JSON.parse(`${'['.repeat(depth)}"x"${']'.repeat(depth)}`)
    const { result: found } = await expectTurns(
      [{ body: { a: { b: { c: 1 } } } }, { body: { a: { prefix: 'x' } } }],
      { a },
    )
    assert.equal(found.candidate?.program.id, '1', `${depth}`)
  }
})

test('a thousand mappings that no equality tells apart let everything else have its turn', async () => {
  const texts = Array.from({ length: 20_000 }, (_, index) => `text ${index}`)
  const matches = Array.from({ length: 1_000 }, (_, index) => ({ body: { a: { prefix: `none ${index}` } } }))
  const searched = await expectTurns(matches, { a: texts })
  assert.equal(searched.result.candidate, undefined)
  assert.ok(searched.turns > 5, `only ${searched.turns} turns`)
})

test('many mappings of many fields of many objects let everything else have its turn', async () => {
  const objects: unknown = JSON.parse(`[${'{},'.repeat(100_000)}{}]`)
  const matches = Array.from({ length: 40 }, (_, index) => ({ body: { a: { [`f${index}`]: 1 } } }))
  const searched = await expectTurns(matches, { a: objects })
  assert.ok(searched.turns > 2, `only ${searched.turns} turns`)
})

test('a thousand expressions let everything else have its turn', async () => {
  const matches = Array.from({ length: 1_000 }, (_, index) => ({ when: `$keys($) = "${index}" and b` }))
  const searched = await expectTurns(matches, { a: 'x' })
  assert.equal(searched.result.candidate, undefined)
  assert.ok(searched.turns > 2, `only ${searched.turns} turns`)
})

test('a thousand compiled expressions over a long list let everything else have its turn', async () => {
  const objects: unknown = JSON.parse(`[${'{},'.repeat(10_000)}{}]`)
  const matches = Array.from({ length: 1_000 }, (_, index) => ({ when: `$count(a.b) = ${index + 1}` }))
  const searched = await expectTurns(matches, { a: objects })
  assert.equal(searched.result.candidate, undefined)
  assert.ok(searched.turns > 5, `only ${searched.turns} turns`)
})

test('a payload of a hundred thousand keys costs what the mappings ask, not what it holds', async () => {
  const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]))
  const matches = Array.from({ length: 1_000 }, (_, index) => ({ body: { [`q${index}`]: 1 } }))
  const { result: found } = await expectTurns([...matches, { body: { k99999: 99_999 } }], keys)
  assert.equal(found.candidate?.program.id, '1000')
})
