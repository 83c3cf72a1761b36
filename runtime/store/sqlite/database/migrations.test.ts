import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createIdMinter } from '../../id.ts'
import { createQueries, type Filters } from '../reader/queries.ts'
import { readCounters } from '../records/counters.ts'
import { createSchedule } from '../schedule/schedule.ts'
import { migrate, migrations } from './migrations.ts'

const versionOf = (db: DatabaseSync) => db.prepare('PRAGMA user_version').get()?.['user_version']
const tablesOf = (db: DatabaseSync) =>
  db
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
    .all()
    .map((row) => row['name'])

test('a new database gets every migration, an older one only those that it lacks', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db, ['CREATE TABLE a (x)'])
  migrate(db, ['CREATE TABLE a (x)', 'CREATE TABLE b (x)', 'CREATE TABLE c (x)'])
  assert.deepEqual(tablesOf(db), ['a', 'b', 'c'])
  assert.equal(versionOf(db), 3)
  migrate(db, ['CREATE TABLE a (x)', 'CREATE TABLE b (x)', 'CREATE TABLE c (x)'])
  assert.equal(versionOf(db), 3)
})

test('a migration that fails undoes the ones before it', () => {
  const db = new DatabaseSync(':memory:')
  assert.throws(() => migrate(db, ['CREATE TABLE a (x)', 'CREATE TABLE a (x)']), /already exists/)
  assert.deepEqual(tablesOf(db), [])
  assert.equal(versionOf(db), 0)
})

test('a newer schema is refused, naming both versions', () => {
  const db = new DatabaseSync(':memory:')
  db.exec('PRAGMA user_version = 99')
  assert.throws(() => migrate(db), {
    code: 'SCHEMA_NEWER',
    message: new RegExp(`schema 99, .* up to ${migrations.length}:`),
  })
})

test('a store of a version without pools and sessions keeps its tasks, and its sessions are listed', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db, migrations.slice(0, 2))
  const run = createIdMinter(() => 1_000)()
  const made = `hook:${run}`
  db.prepare('INSERT INTO tasks VALUES (?, 1, ?, NULL, 5, NULL, 1, 0, 0, 0, 0, NULL)').run('old', 'run')
  db.prepare('INSERT INTO alarms VALUES (?, 5, 1, ?)').run('run', 'old')
  const insertTurn = db.prepare('INSERT INTO turns VALUES (?, ?, ?, ?, ?)')
  for (const [session, number, at] of [
    [made, 1, 10],
    [made, 2, 20],
    ['hook:mine', 1, 15],
  ] as const) {
    insertTurn.run(session, number, Buffer.from(`${session}${number}`), at, '[]')
  }
  migrate(db)
  const schedule = createSchedule(db, readCounters(db))
  schedule.add({ key: 'new', kind: 'run', dueAt: 6, pool: 'github' })
  assert.deepEqual(schedule.due(['run'], 6, 8), ['old', 'new'])
  assert.deepEqual([schedule.claim('old').pool, schedule.claim('new').pool], [undefined, 'github'])
  assert.deepEqual(
    db
      .prepare('SELECT * FROM sessions ORDER BY session')
      .all()
      .map((row) => Object.values(row)),
    [
      [made, 2, 20, 1],
      ['hook:mine', 1, 15, 0],
    ],
  )
})

test('deliveries of a version without a channel column are found by their channel', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db, migrations.slice(0, 3))
  const insert = db.prepare('INSERT INTO deliveries VALUES (?, ?, ?)')
  for (const [number, state, channel] of [
    [1, 'parked', 'slack'],
    [2, 'pending', 'slack'],
    [3, 'parked', 'terminal'],
    [4, 'delivered', 'slack'],
  ] as const) {
    insert.run(Buffer.of(number), state, JSON.stringify({ id: String(number), channel }))
  }
  migrate(db)
  const { list, openDeliveries } = createQueries(db)
  assert.deepEqual(openDeliveries(), [
    { channel: 'slack', pending: 1, parked: 1 },
    { channel: 'terminal', pending: 0, parked: 1 },
  ])
  const ids = (filters: Filters) =>
    list({ table: 'deliveries', limit: 50, filters }).records.map((record) => JSON.parse(record).id)
  assert.deepEqual(ids({ channel: 'slack' }), ['4', '2', '1'])
  assert.deepEqual(ids({ channel: 'slack', state: 'parked' }), ['1'])
})
