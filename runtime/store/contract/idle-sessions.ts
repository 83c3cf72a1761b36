/** The contract of idle sessions: those with a generated key are deleted, others stay. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Id, StoreOptions } from '../port.ts'
import { type ContractContext, type ContractSubject, openBench } from './bench/bench.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler } from './bench/samples.ts'

const hour = 3_600_000
const limits = { keepMs: 7 * 24 * hour, backlog: 1_000 }

export function idleSessionsContract(subject: ContractSubject): void {
  describe(`${subject.name}: idle sessions`, { concurrency: 4, timeout: 30_000 }, () => {
    test('an idle session with a generated key is deleted whole after its time, and a named one stays', async (t) => {
      const { bench, keys, turn, states } = await openSessions(t, { sessionIdleMs: hour })
      const [idle = '', busy = ''] = keys
      for (const key of ['pr:1', 'hook:no-id', idle, busy]) {
        for (let number = 0; number < 3; number++) await turn(key)
      }
      bench.clock.advance(hour / 2)
      await turn(busy)
      bench.clock.advance(hour / 2)
      await bench.settled()
      assert.ok(await bench.store.read.session(idle))
      bench.clock.advance(60_000)
      await untilDeleted(bench, idle)
      assert.deepEqual(await states(idle), {})
      assert.deepEqual(await states(busy), { claude: 'kept' })
      const { items } = await bench.store.read.sessions()
      assert.deepEqual(
        items.map(({ key, turns }) => [key, turns]).toSorted(),
        [
          [busy, 4],
          ['hook:no-id', 3],
          ['pr:1', 3],
        ].toSorted(),
      )
    })

    test('an idle session with an open run stays until the run is over', async (t) => {
      const { bench, keys, turn } = await openSessions(t, { sessionIdleMs: hour })
      const [followed = '', idle = ''] = keys
      const sample = createSampler(bench)
      await turn(idle)
      await turn(followed)
      await bench.store.accept(sample.entry(sample.runAction({ sessionKey: followed })))
      bench.clock.advance(2 * hour)
      await untilDeleted(bench, idle)
      assert.ok(await bench.store.read.session(followed))
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      assert.equal((await claim.load()).history.length, 1)
      claim.done()
      await worker.drain(1_000)
      bench.clock.advance(60_000)
      await untilDeleted(bench, followed)
    })

    test('a very long idle session is deleted in slices, and whole', async (t) => {
      const { bench, keys, turn } = await openSessions(t, { sessionIdleMs: hour })
      const [long = '', other = ''] = keys
      await turn(long, 350)
      await turn(other)
      bench.clock.advance(2 * hour)
      for (const key of [long, other]) await untilDeleted(bench, key)
      assert.deepEqual(await bench.store.read.sessions(), { items: [] })
    })

    test('a changed idle time holds at once, and without one such a session stays as long as others', async (t) => {
      const { bench, keys, turn } = await openSessions(t, { sessionIdleMs: hour })
      const [first = '', second = ''] = keys
      await turn(first)
      await bench.settled()
      bench.store.configure({ ...limits, sessionIdleMs: 48 * hour })
      await pass(bench, 4 * hour)
      assert.ok(await bench.store.read.session(first))
      bench.store.configure(limits)
      await pass(bench, 49 * hour)
      assert.ok(await bench.store.read.session(first))
      await turn(second)
      bench.store.configure({ ...limits, sessionIdleMs: 2 * hour })
      await untilDeleted(bench, first)
      assert.ok(await bench.store.read.session(second))
    })

    /** Opens a store with two generated keys and a way to append to a session. */
    async function openSessions(t: TestContext, options: Partial<StoreOptions>) {
      const bench = await openBench(t, subject, options)
      const sample = createSampler(bench)
      await bench.store.command({
        type: 'schedule',
        task: { key: 'k', kind: 'heartbeat', dueAt: bench.clock.now() },
      })
      const claim = await startManualWorker(bench.store, ['heartbeat']).next()
      const keys = [1, 2].map(() => `hook:${bench.mintId()}`)
      const turn = async (session: string, count = 1) => {
        const append = Array.from({ length: count }, () => {
          const id: Id = bench.mintId()
          const messages = [{ role: 'user' as const, text: 'hi', at: bench.clock.now(), turn: id }]
          return { session, turn: id, messages }
        })
        await claim.checkpoint({ append, runnerState: { session, runner: 'claude', state: 'kept' } })
      }
      const states = async (sessionKey: string) => {
        await bench.store.accept(sample.entry(sample.runAction({ sessionKey })))
        const worker = startManualWorker(bench.store, ['run'])
        const given = await worker.next()
        const { runnerState } = await given.load()
        given.done()
        await worker.drain(1_000)
        return runnerState
      }
      return { bench, keys, turn, states }
    }
  })
}

/**
 * Moves the clock until the session is gone. A pass takes as many slices as the machine needs, and a pass that was under way
 * when the session's time came no longer examines it, so that the next one deletes it a minute later.
 */
async function untilDeleted(bench: ContractContext, key: string): Promise<void> {
  for (let slice = 1; slice <= 1_000; slice++) {
    await bench.settled()
    if ((await bench.store.read.session(key)) === undefined) return
    bench.clock.advance(slice % 20 === 0 ? 60_000 : 20)
  }
  assert.fail('it is still there')
}

/** Moves the clock far enough for a retention pass. */
async function pass(bench: ContractContext, ms: number): Promise<void> {
  bench.clock.advance(ms)
  for (let slice = 0; slice < 20; slice++) {
    await bench.settled()
    bench.clock.advance(20)
  }
}
