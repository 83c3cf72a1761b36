import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createIdMinter } from '../../id.ts'
import type { Filters } from '../../reading.ts'
import { createQueries } from '../reader/queries.ts'
import { readCounters } from '../records/counters.ts'
import { createHistories } from '../records/histories.ts'
import { createRunnerStateReader, createSessions } from '../records/sessions.ts'
import { createSchedule } from '../schedule/schedule.ts'
import { blobOfId, placeOfTime, placesInMs } from './ids.ts'
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

test('turns of a version that numbered them keep their order, and new ones come behind them', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db, migrations.slice(0, 5))
  const time = Date.UTC(2026, 0, 1)
  const mintId = createIdMinter(() => time)
  const ids = Array.from({ length: 5 }, mintId)
  const insertTurn = db.prepare('INSERT INTO turns VALUES (?, ?, ?, ?, ?)')
  // The first turn of `a` is a summary, which is younger than what follows it. One of `b` lies between the others.
  for (const [index, [session, number, ms]] of (
    [
      ['a', 7, 9],
      ['a', 8, 3],
      ['b', 1, 4],
      ['a', 9, 5],
    ] as const
  ).entries()) {
    const messages = [{ role: 'user', text: `${session}${number}`, at: time + ms, turn: ids[index] }]
    insertTurn.run(session, number, blobOfId(ids[index] ?? ''), time + ms, JSON.stringify(messages))
  }
  db.exec(`INSERT INTO runner_states VALUES ('a', 'claude', ${time}, 'kept')`)
  migrate(db)
  const places = () => db.prepare('SELECT place FROM turns ORDER BY place').all()
  assert.deepEqual(
    places().map((row) => Number(row['place']) - placeOfTime(time)),
    [3 * placesInMs, 3 * placesInMs + 1, 4 * placesInMs, 5 * placesInMs],
  )
  const { append, compact } = createSessions(db, createHistories(20))
  const texts = () =>
    createQueries(db)
      .turns('a')
      .map(({ text }) => text)
  const turn = (id = '', text = '') => {
    append({ session: 'a', turn: id, messages: [{ role: 'user', text, at: time + 9, turn: id }] })
  }
  turn(ids[3], 'sent again')
  turn(ids[4], 'new')
  assert.deepEqual(texts(), ['a7', 'a8', 'a9', 'new'])
  compact({ session: 'a', through: ids[1] ?? '' })
  assert.deepEqual(texts(), ['a9', 'new'])
  assert.deepEqual(createRunnerStateReader(db)('a'), { claude: 'kept' })
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
