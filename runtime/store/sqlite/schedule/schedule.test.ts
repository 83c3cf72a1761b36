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
