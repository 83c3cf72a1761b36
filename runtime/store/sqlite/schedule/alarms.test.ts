import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { RoomIn } from '../../claims.ts'
import { migrate } from '../database/migrations.ts'
import { type AlarmedTask, createAlarms } from './alarms.ts'

function openAlarms() {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  return { db, alarms: createAlarms(db) }
}

/** Makes numbers below `most`, the same ones for the same seed. */
function numbersOf(seed: number): (most: number) => number {
  let state = seed
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * most)
  }
}

test('tasks are claimed in the order of their due times, whatever the pools, their room, and what is written yet', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const below = numbersOf(seed)
    const { db, alarms } = openAlarms()
    const collects = seed % 2 === 0
    alarms.collect(collects)
    const pools = [null, 'a', 'b', 'c', 'd']
    let waiting: AlarmedTask[] = []
    for (let seq = 1; seq <= 60; seq++) {
      const pool = pools[below(pools.length)] ?? null
      const task = { key: `t${seq}`, seq, kind: 'run', pool, due_at: below(12) } as const
      waiting.push(task)
      alarms.set(task)
      if (collects && below(20) === 0) alarms.flush()
      if (!collects && below(9) === 0) alarms.forget()
    }
    while (waiting.length > 0) {
      const now = below(14)
      const limit = 1 + below(6)
      const room = new Map(pools.map((pool) => [pool ?? '', pool === null ? 60 : below(4) - 1]))
      const roomIn: RoomIn = (pool) => room.get(pool) ?? 0
      const isOpen = ({ pool }: AlarmedTask) => roomIn(pool ?? '') > 0
      const earliest = Math.min(
        Number.POSITIVE_INFINITY,
        ...waiting.filter(isOpen).map((task) => task.due_at),
      )
      assert.equal(alarms.earliest('run', roomIn), earliest, `seed ${seed}`)
      const expected = firstOf(waiting, now, limit, roomIn)
      assert.deepEqual(alarms.due(['run'], now, limit, roomIn), expected, `seed ${seed}`)
      const gone = waiting.filter(({ key }) => expected.includes(key))
      for (const task of gone.length > 0 ? gone : waiting.slice(0, 1)) {
        alarms.remove(task)
        waiting = waiting.filter(({ key }) => key !== task.key)
      }
    }
    assert.equal(db.prepare('SELECT count(*) AS count FROM alarms').get()?.['count'], 0)
  }
})

test('a full pool costs nothing, however many of its tasks wait', () => {
  const [some, many] = [medianLook(10), medianLook(50_000)]
  // Walking past 50,000 alarms would take a hundred times as long.
  assert.ok(many < 10 * some + 0.05, `${many} ms against ${some} ms`)
})

/** Measures in milliseconds how long it takes to find the one task that has room beside a full pool. */
function medianLook(waiting: number): number {
  const { db, alarms } = openAlarms()
  db.exec('BEGIN')
  for (let seq = 1; seq <= waiting; seq++) {
    alarms.set({ key: `t${seq}`, seq, kind: 'run', pool: 'full', due_at: 0 })
  }
  db.exec('COMMIT')
  const roomIn: RoomIn = (pool) => (pool === 'full' ? 0 : 8)
  const times = Array.from({ length: 101 }, (_, index) => {
    const task = { key: 'open', seq: 60_000 + index, kind: 'run', pool: 'open', due_at: 0 } as const
    alarms.set(task)
    alarms.forget()
    const start = performance.now()
    const found = [alarms.due(['run'], 1, 8, roomIn), alarms.earliest('run', roomIn)]
    const time = performance.now() - start
    assert.deepEqual(found, [['open'], 0])
    alarms.remove(task)
    return time
  })
  return times.toSorted((a, b) => a - b)[50] ?? 0
}

function firstOf(tasks: readonly AlarmedTask[], now: number, limit: number, roomIn: RoomIn): string[] {
  const taken = new Map<string, number>()
  const due = tasks.filter((task) => task.due_at <= now)
  const keys: string[] = []
  for (const { key, pool } of due.sort((a, b) => a.due_at - b.due_at || a.seq - b.seq)) {
    const count = taken.get(pool ?? '') ?? 0
    if (keys.length === limit || count >= roomIn(pool ?? '')) continue
    taken.set(pool ?? '', count + 1)
    keys.push(key)
  }
  return keys
}
