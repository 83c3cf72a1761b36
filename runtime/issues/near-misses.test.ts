import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CandidateTrace, ClauseTrace } from '@reveille/engine'
import type { Ledger, Problem } from './ledger.ts'
import { createNearMisses } from './near-misses.ts'

/** `stored` are the mappings and endpoints that stored requests have reached. */
function createFixture(stored: readonly string[] = []) {
  const noted: Problem[] = []
  const asked: object[] = []
  const ledger = { note: (problem: Problem) => noted.push(problem) } as unknown as Ledger
  const requests = async ({ mapping, endpoint }: { mapping?: string; endpoint?: string } = {}) => {
    asked.push({ mapping, endpoint })
    return { items: stored.includes(mapping ?? `/${endpoint}`) ? [{} as never] : [] }
  }
  const misses = createNearMisses(ledger, { requests })
  const ignored = (...candidates: readonly CandidateTrace[]) =>
    misses.explained({ id: 'id-1', request: { endpoint: 'shop' }, candidates })
  return { noted, asked, misses, ignored }
}

function failed(mapping: string, clause: Partial<ClauseTrace>): CandidateTrace {
  const whole = { path: 'match.body.status', expected: '"paid"', actual: '"open"', ...clause }
  return { mapping, place: 'mappings/shop.yaml:3:5', verdict: 'failed', clause: whole }
}

const only = { isOnly: true } as const

test('a value that differs in case alone is an issue at once, with both values', async () => {
  const { noted, ignored } = createFixture(['paid', '/shop'])
  await ignored(
    failed('other', { path: 'match.when', ...only }),
    failed('paid', { ...only, isNear: true, actual: '"Paid"' }),
  )
  assert.equal(noted.length, 1)
  const [{ code, subject, describe } = assert.fail()] = noted
  assert.deepEqual([code, subject], ['FILTER_NEAR_MISS', 'paid'])
  assert.equal(
    describe().cause,
    'A request to /shop was ignored that misses only match.body.status of the mapping "paid" (mappings/shop.yaml:3:5): it wants "paid", and "Paid" came.',
  )
  assert.equal(describe().next.command, 'reveille explain id-1')
})

test('a filter that has let requests pass is right to ignore others', async () => {
  const { noted, asked, ignored } = createFixture(['paid'])
  for (let time = 0; time < 5; time++) await ignored(failed('paid', only))
  assert.equal(noted.length, 0)
  assert.deepEqual(asked, [{ mapping: 'paid', endpoint: undefined }])
})

test('a mapping that has never matched is an issue at once if its endpoint has accepted nothing, and else for the third time', async () => {
  const fresh = createFixture()
  await fresh.ignored(failed('paid', only))
  assert.equal(fresh.noted.length, 1)
  const busy = createFixture(['/shop'])
  await busy.ignored(failed('paid', only))
  await busy.ignored(failed('paid', only))
  assert.equal(busy.noted.length, 0)
  await busy.ignored(failed('paid', only))
  assert.equal(busy.noted.length, 1)
})

test('a mapping that was changed has to match again', async () => {
  const { noted, misses, ignored } = createFixture(['paid'])
  misses.matched('paid')
  await ignored(failed('paid', only))
  assert.equal(noted.length, 0)
  misses.forget(['paid'])
  await ignored(failed('paid', only))
  assert.equal(noted.length, 1)
})

test('a mapping that misses by more than one value is no near miss', async () => {
  const { noted, ignored } = createFixture()
  await ignored(failed('paid', {}), { mapping: 'other', place: '', verdict: 'disabled' })
  assert.equal(noted.length, 0)
})

test('of several mappings the one is named of which most holds', async () => {
  const { noted, ignored } = createFixture()
  await ignored(
    failed('a', { ...only, path: 'match.headers.event' }),
    failed('b', { ...only, path: 'match.body.action' }),
    failed('c', { ...only, path: 'match.body.other' }),
  )
  assert.deepEqual(
    noted.map(({ subject }) => subject),
    ['b'],
  )
})
