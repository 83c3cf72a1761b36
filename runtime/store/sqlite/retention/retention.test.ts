import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createSampler } from '../../contract/bench/samples.ts'
import { createIdMinter } from '../../id.ts'
import { blobOfId, idOfBlob } from '../database/ids.ts'
import { migrate } from '../database/migrations.ts'
import { createBounds } from '../records/bounds.ts'
import { createCoalescing } from '../records/coalescing.ts'
import { readCounters } from '../records/counters.ts'
import { createDeliveries } from '../records/deliveries.ts'
import { createEffects } from '../records/effects.ts'
import { createEvents } from '../records/events.ts'
import { createHistories } from '../records/histories.ts'
import { createLookups } from '../records/lookups.ts'
import { createRequests, valuesOfRequest } from '../records/requests.ts'
import { createRuns } from '../records/runs.ts'
import { createSchedule } from '../schedule/schedule.ts'
import { createRetention } from './retention.ts'

const day = 86_400_000

function partsOf(db: DatabaseSync) {
  const counters = readCounters(db)
  const bounds = createBounds(db, counters, {})
  return { db, counters, bounds, lookups: createLookups(db), histories: createHistories(20) }
}

/** Opens a store with old ignored requests, and a stopwatch that moves with each look at it. */
function openOldStore({ requests, msPerLook }: { requests: number; msPerLook: number }) {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const sample = createSampler({ mintId: createIdMinter(() => day), clock: { now: () => day } })
  const stored = createRequests(db)
  for (let i = 0; i < requests; i++) {
    const request = sample.request({ outcome: 'ignored' })
    stored.add(blobOfId(request.id), valuesOfRequest(request))
  }
  stored.rows.flush()
  let elapsed = 0
  const retention = createRetention(partsOf(db), {
    keepMs: day,
    now: 10 * day,
    elapsed: () => {
      elapsed += msPerLook
      return elapsed
    },
  })
  const left = () => Number(db.prepare('SELECT count(*) AS count FROM requests').get()?.['count'])
  return { retention, left }
}

test('a slice ends with its time, and the next one is due soon', () => {
  const { retention, left } = openOldStore({ requests: 1_000, msPerLook: 1 })
  const start = retention.nextAt
  let now = start
  let slices = 0
  let before = left()
  while (left() > 0) {
    retention.sweep(now)
    slices += 1
    assert.ok(before - left() <= 40, 'a slice takes two strides at most')
    assert.ok(retention.nextAt > now && retention.nextAt <= now + 20)
    before = left()
    now = retention.nextAt
  }
  assert.ok(slices > 20)
})

test('after a pass the next one begins a minute later', () => {
  const { retention, left } = openOldStore({ requests: 100, msPerLook: 0 })
  const start = retention.nextAt
  retention.sweep(start)
  assert.equal(left(), 0)
  assert.equal(retention.nextAt, start + 60_000)
})

test('the requests that joined a run are deleted with it, and not before', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const mintId = createIdMinter(() => day)
  const sample = createSampler({ mintId, clock: { now: () => day } })
  const coalescing = createCoalescing(db, createSchedule(db, readCounters(db)))
  const runs = createRuns(db, () => {})
  const insertJoined = db.prepare('INSERT INTO joined VALUES (?, ?, 1, ?, 0, 1, ?, ?)')
  for (const state of ['succeeded', 'queued'] as const) {
    const { record } = sample.coalescedAction({ key: state }, { state })
    assert.ok(!('text' in record) && record.coalesce)
    const { id, coalesce } = record
    runs.insert(record)
    const join = { ...coalesce, dueAt: day, message: 'm', prompt: 'p' }
    coalescing.begin(id, join, day)
    insertJoined.run(blobOfId(mintId()), blobOfId(id), blobOfId(mintId()), 'm', 'p')
  }
  const count = (table: string) => db.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count']
  const retention = createRetention(partsOf(db), { keepMs: day, now: 10 * day, elapsed: () => 0 })
  retention.sweep(retention.nextAt)
  assert.deepEqual(['runs', 'coalesced', 'joined'].map(count), [1, 1, 1])
})

test('spending is deleted with other history, but not on its day or the day after', () => {
  const { db, apply, sweep } = openWithEffects({ keepMs: 1_000 })
  for (const dayOfMonth of ['01', '02', '03', '04']) {
    apply({ spend: { day: `2026-01-${dayOfMonth}`, budget: 'github', runs: 1, tokens: 1 } }, 0)
  }
  sweep(Date.UTC(2026, 0, 4, 12))
  const days = db.prepare('SELECT DISTINCT day FROM spent ORDER BY day').all()
  assert.deepEqual(
    days.map((row) => row['day']),
    ['2026-01-02', '2026-01-03', '2026-01-04'],
  )
})

test("a runner's state is deleted when it is old and its session has no turn left", () => {
  const { db, apply, sweep } = openWithEffects({ keepMs: day })
  const turn = createIdMinter(() => day)()
  for (let number = 0; number < 50; number++) {
    apply({ runnerState: { session: `old:${number}`, runner: 'claude', state: 's' } }, 0)
  }
  const keep = (session: string, now: number) =>
    apply({ runnerState: { session, runner: 'claude', state: 's' } }, now)
  keep('with-turns', 0)
  keep('young', 10 * day)
  const messages = [{ role: 'user' as const, text: 'hi', at: 10 * day, turn }]
  apply({ append: [{ session: 'with-turns', turn, messages }] }, 10 * day)
  sweep(10 * day)
  const left = () =>
    db
      .prepare('SELECT session FROM runner_states ORDER BY session')
      .all()
      .map((row) => row['session'])
  assert.deepEqual(left(), ['with-turns', 'young'])
  sweep(12 * day)
  assert.deepEqual(left(), [])
})

test('a summary that is younger than the turns behind it stays when they are deleted', () => {
  const { db, apply, sweep } = openWithEffects({ keepMs: day })
  let now = day
  const mintId = createIdMinter(() => now)
  const turns = Array.from({ length: 50 }, () => {
    const turn = mintId()
    apply({ append: [{ session: 'a', turn, messages: [{ role: 'user', text: 'hi', at: now, turn }] }] }, now)
    return turn
  })
  now = 3 * day
  const turn = mintId()
  const summary = { turn, messages: [{ role: 'summary' as const, text: 'hi', at: now, turn }] }
  apply({ compact: { session: 'a', through: turns[9] ?? '', summary } }, now)
  const left = () => db.prepare('SELECT turn FROM turns').all()
  sweep(2 * day)
  assert.equal(left().length, 41)
  sweep(2 * day + 1)
  assert.deepEqual(
    left().map((row) => idOfBlob(row['turn'] as Uint8Array)),
    [turn],
  )
  assert.deepEqual(db.prepare('SELECT turns FROM sessions').all().map(Object.values), [[1]])
  sweep(5 * day)
  assert.deepEqual([left().length, db.prepare('SELECT * FROM sessions').all().length], [0, 0])
})

test('histories are read again once turns were deleted for age, or a whole idle session was', () => {
  for (const [session, limits] of [
    ['pr:1', { keepMs: day }],
    [`hook:${createIdMinter(() => day)()}`, { keepMs: 100 * day, sessionIdleMs: day }],
  ] as const) {
    const { apply, sweep, histories } = openWithEffects(limits)
    const turn = createIdMinter(() => day)()
    const messages = [{ role: 'user' as const, text: 'hi', at: day, turn }]
    apply({ append: [{ session, turn, messages }] }, day)
    const read = (turns: string) => histories.read(session, () => [{ turn, messages: turns }])[0]?.messages
    assert.equal(read('before'), 'before')
    sweep(2 * day)
    assert.equal(read('after'), 'before')
    sweep(2 * day + 1)
    assert.equal(read('after'), 'after')
  }
})

function openWithEffects({ keepMs, sessionIdleMs = keepMs }: { keepMs: number; sessionIdleMs?: number }) {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const counters = readCounters(db)
  const changed = () => {}
  const schedule = createSchedule(db, counters)
  const runs = createRuns(db, changed)
  const events = createEvents(db, counters, changed)
  const deliveries = createDeliveries(db, changed)
  const parts = partsOf(db)
  const apply = createEffects({ ...parts, schedule, runs, events, deliveries })
  const retention = createRetention(parts, { keepMs, sessionIdleMs, now: 0, elapsed: () => 0 })
  return { db, apply, sweep: retention.sweep, histories: parts.histories }
}
