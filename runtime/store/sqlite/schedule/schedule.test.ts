import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createIdMinter } from '../../id.ts'
import { heartbeatTask, runTask } from '../../tasks.ts'
import { migrate } from '../database/migrations.ts'
import { readCounters } from '../records/counters.ts'
import { createSchedule } from './schedule.ts'

function openSchedule() {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const counters = readCounters(db)
  const schedule = createSchedule(db, counters)
  const writes = () => Number(db.prepare('SELECT total_changes() AS count').get()?.['count'])
  return { db, counters, schedule, writes }
}

test('scheduling a heartbeat that is due as early costs no write, however often', () => {
  const { schedule, writes } = openSchedule()
  schedule.add(heartbeatTask(1_000))
  const scheduled = writes()
  for (let dueAt = 1_000; dueAt < 2_000; dueAt++) schedule.add(heartbeatTask(dueAt))
  assert.equal(writes(), scheduled)
})

test('while the heartbeat is claimed, scheduling it costs one write, however often', () => {
  const { schedule, writes } = openSchedule()
  schedule.add(heartbeatTask(0))
  schedule.claim('heartbeat:main')
  const claimed = writes()
  for (let dueAt = 1_000; dueAt < 2_000; dueAt++) schedule.add(heartbeatTask(dueAt))
  assert.equal(writes(), claimed + 1)
})

test('scheduling a heartbeat that backs off writes nothing', () => {
  const { schedule, writes } = openSchedule()
  schedule.add(heartbeatTask(0))
  schedule.claim('heartbeat:main')
  schedule.postpone('heartbeat:main', 60_000, true)
  schedule.add(heartbeatTask(1))
  const first = writes()
  for (let dueAt = 1; dueAt < 1_000; dueAt++) schedule.add(heartbeatTask(dueAt))
  assert.equal(writes(), first)
  assert.equal(schedule.earliest('heartbeat'), 60_000)
})

test('after a rollback nothing is remembered of what it undid', () => {
  const { db, counters, schedule } = openSchedule()
  const before = { ...counters }
  db.exec('BEGIN')
  schedule.add(heartbeatTask(1_000))
  schedule.add(heartbeatTask(1_000))
  assert.equal(schedule.earliest('heartbeat'), 1_000)
  db.exec('ROLLBACK')
  Object.assign(counters, before)
  schedule.forget()
  assert.equal(schedule.earliest('heartbeat'), Number.POSITIVE_INFINITY)
  schedule.add(heartbeatTask(3_000))
  assert.deepEqual(schedule.due(['heartbeat'], 3_000, 8), ['heartbeat:main'])
})

test('a task that its own transaction claims is written once, as claimed, and never has an alarm', () => {
  const { db, counters, schedule, writes } = openSchedule()
  const id = createIdMinter(() => 1_000)()
  schedule.collect(true)
  schedule.add(runTask({ id, sessionKey: `hook:${id}`, lane: false, dueAt: 0 }))
  const [key = ''] = schedule.due(['run'], 0, 8)
  assert.deepEqual([schedule.claim(key).claims, schedule.earliest('run')], [1, Number.POSITIVE_INFINITY])
  const before = writes()
  schedule.flush()
  assert.equal(writes(), before + 1)
  assert.deepEqual(
    { ...db.prepare('SELECT key, claimed, claims FROM tasks').get() },
    { key, claimed: 1, claims: 1 },
  )
  schedule.finish(key)
  assert.deepEqual(
    [counters.backlog, db.prepare('SELECT count(*) AS count FROM tasks').get()?.['count']],
    [0, 0],
  )
})

test('a task that is looked up before it is written is found', () => {
  const { schedule } = openSchedule()
  const id = createIdMinter(() => 1_000)()
  schedule.collect(true)
  schedule.add(runTask({ id, sessionKey: `hook:${id}`, lane: false, dueAt: 9 }))
  assert.equal(schedule.stateOf(`run:${id}`), 'open')
  // A second task of the session puts the first one at the head of their lane.
  const second = createIdMinter(() => 2_000)()
  schedule.add(runTask({ id: second, sessionKey: `hook:${id}`, lane: true, dueAt: 0 }))
  assert.deepEqual(schedule.due(['run'], 9, 8), [`run:${id}`])
  schedule.remove(`run:${id}`)
  schedule.flush()
  assert.deepEqual(schedule.due(['run'], 9, 8), [`run:${second}`])
})

test('a collected task whose key is taken fails the flush, and alone it is rescheduled', () => {
  const { db, counters, schedule } = openSchedule()
  const id = createIdMinter(() => 1_000)()
  const task = (dueAt: number) => runTask({ id, sessionKey: `hook:${id}`, lane: false, dueAt })
  schedule.add(task(9))
  const before = { ...counters }
  db.exec('BEGIN')
  schedule.collect(true)
  schedule.add(task(5))
  assert.throws(() => schedule.flush(), /UNIQUE/)
  db.exec('ROLLBACK')
  Object.assign(counters, before)
  schedule.forget()
  schedule.collect(false)
  schedule.add(task(5))
  assert.deepEqual([schedule.earliest('run'), counters.backlog], [5, 1])
})

test('only the head of a lane has an alarm, however long the lane is', () => {
  const { db, schedule } = openSchedule()
  const mintId = createIdMinter(() => 1_000)
  const ids = Array.from({ length: 100 }, mintId)
  for (const id of ids) schedule.add(runTask({ id, sessionKey: 'pr:1', lane: true, dueAt: 0 }))
  const alarms = () => db.prepare('SELECT key FROM alarms').all()
  assert.equal(alarms().length, 1)
  for (const id of ids) {
    assert.deepEqual(schedule.due(['run'], 0, 8), [`run:${id}`])
    schedule.claim(`run:${id}`)
    assert.equal(alarms().length, 0)
    schedule.finish(`run:${id}`)
  }
  for (const table of ['tasks', 'lanes', 'alarms']) {
    assert.equal(db.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count'], 0)
  }
})
