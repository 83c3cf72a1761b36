/** Tests what transactions of several nodes do to each other: in which order they lock, what they count, and what forgetting leaves. */

import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { startManualWorker } from '../contract/bench/manual-worker.ts'
import { createSampler, idOf } from '../contract/bench/samples.ts'
import { createIdMinter } from '../id.ts'
import type { Effects, Entry, RunRecord, StoreOptions } from '../port.ts'
import { heartbeatKey, heartbeatTask, laneOf } from '../tasks.ts'
import { migrated } from './contract-subject.ts'
import { openStore } from './store.ts'
import { type TestDatabase, testPostgres } from './test-server.ts'

const mintId = createIdMinter(Date.now)
const sample = createSampler({ mintId, clock: { now: Date.now } })
const usual = { now: Date.now, keepMs: 86_400_000, backlog: 1_000, historyMessages: 20 }

describe('transactions of several nodes', { timeout: 60_000 }, () => {
  let database: TestDatabase
  /** Another session of the database, in whose way the stores get. */
  let other: pg.Client
  /** A transaction sees no news of who waits. */
  let observer: pg.Client
  before(async () => {
    database = await testPostgres(migrated)
    other = new pg.Client({ connectionString: database.url })
    observer = new pg.Client({ connectionString: database.url })
    await Promise.all([other.connect(), observer.connect()])
  })
  after(async () => {
    await Promise.all([other.end(), observer.end()])
    await database.drop()
  })

  async function open(t: TestContext, options: Partial<StoreOptions> = {}) {
    const store = await openStore({ ...usual, location: database.url, ...options })
    t.after(async () => {
      await other.query('ROLLBACK')
      await store.close()
    })
    return store
  }

  async function lock(table: string, condition: string): Promise<void> {
    await other.query(`BEGIN; SELECT 1 FROM reveille.${table} WHERE ${condition} FOR UPDATE`)
  }

  /** Resolves when so many transactions wait for locks, or something else has happened. */
  async function waiting(count: number, isOver = () => false): Promise<void> {
    while (!isOver()) {
      const { rows } = await observer.query(
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      if (rows[0].count >= count) return
    }
  }

  /** Fails unless no transaction holds these rows. */
  async function assertFree(table: string, condition: string): Promise<void> {
    const { rows } = await observer.query(
      `SELECT (SELECT count(*) FROM reveille.${table} WHERE ${condition})::int AS all`,
    )
    const free = await observer.query(
      `SELECT 1 FROM reveille.${table} WHERE ${condition} FOR UPDATE SKIP LOCKED`,
    )
    assert.deepEqual([rows[0].all > 0, free.rowCount], [true, rows[0].all], table)
  }

  test('an entry locks lanes before the tasks of runs that it might join', async (t) => {
    const store = await open(t)
    const coalesced = () =>
      sample.entry(sample.coalescedAction({ key: 'order' }, { sessionKey: 'lanes-first' }))
    const first = coalesced()
    await store.accept(first)
    await lock('lanes', `lane = '${laneOf('lanes-first')}'`)
    const accepting = store.accept(coalesced())
    await waiting(1)
    await assertFree('tasks', `key = 'run:${first.actions[0]?.record.id}'`)
    await other.query('ROLLBACK')
    assert.equal((await accepting).actions[0]?.outcome, 'joined')
  })

  test('a settlement locks the lanes of what it adds before sums and tasks that all nodes share', async (t) => {
    const store = await open(t)
    await store.command({ type: 'schedule', task: heartbeatTask(Date.now() + 3_600_000) })
    const worker = startManualWorker(store, ['run'])
    const settling = async (effects: Effects) => {
      const action = sample.runAction({ sessionKey: 'settled' })
      await store.accept(sample.entry(action))
      const claim = await worker.next()
      const spend = { day: '2026-01-01', runs: 1, tokens: 5 }
      claim.settle({
        done: true,
        effects: { run: { id: idOf(action), state: 'succeeded' }, spend, ...effects },
      })
    }
    const delivery = sample.delivery({ to: 'lanes-first' })
    const deliveryTask = sample.deliveryTask(delivery)
    await settling({ deliveries: [delivery], tasks: [deliveryTask] })
    await store.command({ type: 'offer-route', route: undefined })
    const next = sample.delivery({ to: 'lanes-first' })
    await lock('lanes', `lane = '${deliveryTask.lane}'`)
    await settling({
      deliveries: [next],
      tasks: [sample.deliveryTask(next), heartbeatTask(Date.now() + 3_600_000)],
    })
    await waiting(1)
    await assertFree('spent', 'true')
    await assertFree('tasks', `key = '${heartbeatKey}'`)
    await other.query('ROLLBACK')
    await store.command({ type: 'offer-route', route: undefined })
    assert.equal((await store.read.delivery(next.id))?.state, 'pending')
    await other.query(`DELETE FROM reveille.tasks; DELETE FROM reveille.alarms; DELETE FROM reveille.lanes`)
  })

  test('what another node deletes over a bound is passed over', async (t) => {
    const store = await open(t, { mostWithoutEffect: 2, mostBodyBytes: 10 })
    const ignored = () => {
      const request = sample.request({ outcome: 'ignored', body: new Uint8Array(6), head: undefined })
      return { request, actions: [] } satisfies Entry
    }
    for (const entry of [ignored(), ignored()]) await store.accept(entry)
    await other.query(
      'BEGIN; SELECT 1 FROM reveille.requests FOR UPDATE; SELECT 1 FROM reveille.kept FOR UPDATE',
    )
    await store.accept(ignored())
    await other.query('ROLLBACK')
    await store.accept(ignored())
    assert.equal((await store.read.requests({ outcome: 'ignored' })).items.length, 2)
    await other.query(
      `DELETE FROM reveille.requests; DELETE FROM reveille.kept; DELETE FROM reveille.kept_sizes`,
    )
  })

  test('a count takes in what is under way, and what other nodes have added', async (t) => {
    const ticks: (() => void)[] = []
    const setWatchTimer = (run: () => void) => {
      ticks.push(run)
      return () => undefined
    }
    const [store, second] = [await open(t, { setWatchTimer }), await open(t)]
    const before = store.health().backlog
    const entry = sample.entry(sample.runAction(), sample.runAction())
    // An id that another transaction has just inserted has to be waited for.
    await other.query(`BEGIN; INSERT INTO reveille.requests (id, outcome, endpoint, status, received_at, generation, more)
      VALUES ('${entry.request.id}', 'accepted', 'e', 202, 0, 1, '{}')`)
    const accepting = store.accept(entry)
    await waiting(1)
    await second.accept(sample.entry(sample.runAction(), sample.runAction(), sample.runAction()))
    assert.equal((await store.cluster.nodes()).length, 2)
    ticks.shift()?.()
    while (store.health().backlog !== before + 5) await new Promise(setImmediate)
    await other.query('ROLLBACK')
    await accepting
    assert.equal(store.health().backlog, before + 5)
  })

  test('what a node writes is found by indexes, also where tables were small when the statements were planned', async (t) => {
    await other.query('VACUUM ANALYZE')
    const wholeReads = async () => {
      const { rows } = await other.query(
        `SELECT relname, seq_scan::int FROM pg_stat_user_tables WHERE relname IN ('alarms', 'lanes', 'runs', 'events', 'turns', 'dedupe')`,
      )
      return new Map(rows.map(({ relname, seq_scan }) => [relname, seq_scan]))
    }
    const before = await wholeReads()
    const store = await open(t)
    const worker = startManualWorker(store, ['run'])
    for (let number = 0; number < 24; number += 1) {
      const dedupe = { scope: 's', key: `${number}`, until: Date.now() + 60_000 }
      const action = sample.runAction({ sessionKey: 'indexed' }, { dedupe })
      await store.accept(sample.entry(action))
      const claim = await worker.next()
      const message = { role: 'user' as const, text: 'x', at: 1, turn: mintId() }
      const turn = { session: 'indexed', turn: message.turn, messages: [message] }
      claim.settle({ done: true, effects: { run: { id: idOf(action), state: 'succeeded' }, append: [turn] } })
    }
    // A connection says what it has read when it ends. An opening store counts, and looks for alarms.
    await store.close()
    for (const [table, reads] of await wholeReads()) assert.ok(reads - before.get(table) < 12, table)
  })

  describe('forgetting', () => {
    async function forgetting(t: TestContext) {
      const [store, second] = [await open(t), await open(t)]
      const text = `a secret of ${mintId()}`
      const action = sample.eventAction({ text, prompt: text, mode: 'next-heartbeat' })
      const entry = sample.entry(action)
      await store.accept(entry)
      const forget = () => second.command({ type: 'forget', requests: [entry.request.id], at: Date.now() })
      return { store, event: idOf(action), text, forget }
    }

    test('a heartbeat that is scheduled meanwhile does not show what is forgotten', async (t) => {
      const { store, event, text, forget } = await forgetting(t)
      await lock('events', `id = '${event}'`)
      const forgotten = forget()
      await waiting(1)
      const worker = startManualWorker(store, ['heartbeat'])
      let isClaimed = false
      const claiming = worker.next().finally(() => {
        isClaimed = true
      })
      const scheduled = store.command({ type: 'schedule', task: heartbeatTask(Date.now()) })
      await waiting(2, () => isClaimed)
      await other.query('ROLLBACK')
      await scheduled
      const claim = await claiming
      const { events } = await claim.load()
      assert.equal((await forgotten).done, 1)
      assert.doesNotMatch(JSON.stringify(events), new RegExp(text))
      claim.done()
    })

    test('a heartbeat that fails meanwhile is forgotten too', async (t) => {
      const { store, event, text, forget } = await forgetting(t)
      const worker = startManualWorker(store, ['heartbeat'])
      await store.command({ type: 'schedule', task: heartbeatTask(Date.now()) })
      const claim = await worker.next()
      await lock('lanes', `lane = '${laneOf('main')}'`)
      const heartbeat: RunRecord = {
        ...sample.run({ prompt: text, message: text, sessionKey: 'main', eventIds: [event] }),
        kind: 'heartbeat',
        state: 'failed',
      }
      claim.settle({ effects: { run: heartbeat }, again: Date.now() + 3_600_000, counts: true })
      await waiting(1)
      const forgotten = forget()
      await waiting(2)
      await other.query('ROLLBACK')
      assert.equal((await forgotten).done, 1)
      assert.equal((await store.read.run(heartbeat.id))?.prompt, '')
    })
  })
})
