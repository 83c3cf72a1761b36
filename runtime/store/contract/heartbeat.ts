/** The contract of heartbeats: tasks are scheduled by key, and events are shown and consumed by id. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { heartbeatTask, heartbeatWindowMs } from '../task-keys.ts'
import type { ContractSubject } from './bench/bench.ts'
import { testsOf } from './bench/contract-test.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { idOf } from './bench/samples.ts'

export function heartbeatContract(subject: ContractSubject): void {
  describe(`${subject.name}: heartbeats`, { concurrency: 4, timeout: 30_000 }, () => {
    const test = testsOf(subject)

    test('a burst of events that ask for now is one heartbeat, due by the first of them', async (bench) => {
      const { sample } = bench
      const worker = startManualWorker(bench.store, ['heartbeat'])
      await bench.store.accept(sample.entry(sample.eventAction()))
      bench.clock.advance(heartbeatWindowMs - 1)
      await Promise.all([1, 2, 3].map(() => bench.store.accept(sample.entry(sample.eventAction()))))
      assert.equal(worker.waiting.length, 0)
      bench.clock.advance(1)
      const claim = await worker.next()
      assert.equal((await claim.load()).events.length, 4)
      claim.done()
      bench.clock.advance(60_000)
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
    })

    test('scheduling brings a waiting task forward and never puts it off', async (bench) => {
      const worker = startManualWorker(bench.store, ['heartbeat'])
      const start = bench.clock.now()
      for (const ms of [30_000, 10_000, 20_000]) {
        await bench.store.command({ type: 'schedule', task: heartbeatTask(start + ms) })
      }
      bench.clock.advance(9_999)
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      bench.clock.advance(1)
      const claim = await worker.next()
      assert.equal(claim.task.dueAt, start + 10_000)
      claim.done()
    })

    test('a task that is scheduled while it is claimed is claimed again after it settled', async (bench) => {
      const worker = startManualWorker(bench.store, ['heartbeat'])
      const schedule = (ms: number) =>
        bench.store.command({ type: 'schedule', task: heartbeatTask(bench.clock.now() + ms) })
      await schedule(0)
      const claim = await worker.next()
      for (const ms of [500, 250, 400]) await schedule(ms)
      bench.clock.advance(1_000)
      await bench.settled()
      assert.equal(worker.waiting.length, 0, 'one claim at a time')
      claim.done()
      const again = await worker.next()
      assert.deepEqual([again.task.attempt, again.task.claims], [1, 1])
      again.done()
      bench.clock.advance(60_000)
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
    })

    test('the settlement of a task may schedule it again', async (bench) => {
      const worker = startManualWorker(bench.store, ['heartbeat'])
      await bench.store.command({ type: 'schedule', task: heartbeatTask(bench.clock.now()) })
      const claim = await worker.next()
      claim.settle({ done: true, effects: { tasks: [heartbeatTask(bench.clock.now() + 1_000)] } })
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      bench.clock.advance(1_000)
      const next = await worker.next()
      next.done()
    })

    test('scheduling a task does not cut short its wait for the next try', async (bench) => {
      const { sample } = bench
      const worker = startManualWorker(bench.store, ['heartbeat'])
      await bench.store.accept(sample.entry(sample.eventAction()))
      bench.clock.advance(1_000)
      const failed = await worker.next()
      await bench.store.accept(sample.entry(sample.eventAction()))
      failed.again(bench.clock.now() + 60_000)
      await bench.settled()
      await bench.store.accept(sample.entry(sample.eventAction()))
      bench.clock.advance(59_999)
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      bench.clock.advance(1)
      const retried = await worker.next()
      assert.equal(retried.task.attempt, 2)
      retried.done()
    })

    test('`expedite` brings forward a task that waits for its next try, and no other', async (bench) => {
      const worker = startManualWorker(bench.store, ['heartbeat'])
      const start = bench.clock.now()
      const expedite = (ms: number) =>
        bench.store.command({ type: 'expedite', task: 'heartbeat:main', dueAt: start + ms })
      await expedite(0)
      await bench.store.command({ type: 'schedule', task: heartbeatTask(start + 1_000) })
      await expedite(10)
      bench.clock.advance(999)
      await bench.settled()
      assert.equal(worker.waiting.length, 0, 'it waits for its first try')
      bench.clock.advance(1)
      const failed = await worker.next()
      await expedite(0)
      failed.again(start + 60_000)
      await bench.settled()
      await expedite(90_000)
      await expedite(2_000)
      bench.clock.advance(1_000)
      const retried = await worker.next()
      assert.deepEqual([retried.task.attempt, retried.task.dueAt], [2, start + 2_000])
      retried.done()
      bench.clock.advance(120_000)
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
    })

    test('a due heartbeat survives a restart', async (bench) => {
      await bench.store.command({ type: 'schedule', task: heartbeatTask(bench.clock.now() + 1_000) })
      const store = await bench.open()
      const worker = startManualWorker(store, ['heartbeat'])
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      bench.clock.advance(1_000)
      const claim = await worker.next()
      claim.done()
    })

    test('events that asked for now are shown first, then the oldest, 50 at most', async (bench) => {
      const { sample } = bench
      const patient = Array.from({ length: 60 }, () => sample.eventAction({ mode: 'next-heartbeat' }))
      const urgent = [sample.eventAction(), sample.eventAction()]
      await bench.store.accept(sample.entry(...patient, ...urgent))
      bench.clock.advance(1_000)
      const claim = await startManualWorker(bench.store, ['heartbeat']).next()
      const work = await claim.load()
      assert.deepEqual(work.pending, { all: 62, now: 2 })
      assert.deepEqual(
        work.events.map((event) => event.id),
        [...urgent, ...patient.slice(0, 48)].map(idOf),
      )
    })

    test('only some of many large events are loaded, the first one always', async (bench) => {
      const { sample } = bench
      const prompt = 'x'.repeat(3_000_000)
      const actions = [1, 2].map(() => sample.eventAction({ prompt }))
      for (const action of actions) await bench.store.accept(sample.entry(action))
      bench.clock.advance(1_000)
      const claim = await startManualWorker(bench.store, ['heartbeat']).next()
      const { events, pending } = await claim.load()
      assert.deepEqual([events.map((event) => event.id), pending.all], [actions.slice(0, 1).map(idOf), 2])
    })

    test('exactly the named events are consumed, and only once', async (bench) => {
      const { sample } = bench
      const [one, two, three] = [
        sample.eventAction(),
        sample.eventAction({ mode: 'next-heartbeat' }),
        sample.eventAction(),
      ]
      await bench.store.accept(sample.entry(one, two, three))
      bench.clock.advance(1_000)
      const worker = startManualWorker(bench.store, ['heartbeat'])
      const claim = await worker.next()
      const run = sample.run({ kind: 'heartbeat', sessionKey: 'main' })
      const consume = { by: run.id, at: bench.clock.now(), events: [idOf(one), idOf(two)] }
      await claim.checkpoint({ run, consume })
      await claim.checkpoint({ consume: { ...consume, by: bench.mintId() } })
      const work = await claim.load()
      assert.deepEqual(work.pending, { all: 1, now: 1 })
      assert.deepEqual(
        work.events.map((event) => event.id),
        [idOf(three)],
      )
      const consumed = await bench.store.read.event(idOf(one))
      assert.equal(consumed?.state, 'consumed')
      assert.equal(consumed?.consumedBy, run.id)
      assert.equal(consumed?.consumedAt, bench.clock.now())
      assert.equal((await bench.store.read.run(run.id))?.kind, 'heartbeat')
      claim.done()
      const store = await bench.open()
      await store.command({ type: 'schedule', task: heartbeatTask(bench.clock.now()) })
      const next = await startManualWorker(store, ['heartbeat']).next()
      assert.deepEqual((await next.load()).pending, { all: 1, now: 1 })
    })
  })
}
