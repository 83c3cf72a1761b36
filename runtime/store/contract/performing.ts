/** The contract of `work`: due times, lanes, claims, leases, effects and the drain. */

import assert from 'node:assert/strict'
import { describe, test as single } from 'node:test'
import type { SessionMessage } from '../port.ts'
import { heartbeatTask } from '../task-keys.ts'
import { type ContractSubject, createBench } from './bench/bench.ts'
import { testsOf } from './bench/contract-test.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler, idOf } from './bench/samples.ts'

export function performingContract(subject: ContractSubject): void {
  describe(`${subject.name}: performing`, { concurrency: 4, timeout: 30_000 }, () => {
    const test = testsOf(subject)

    test('a task is not claimed before it is due, and then at once', async (bench) => {
      const { sample } = bench
      const worker = startManualWorker(bench.store, ['run'])
      const action = sample.runAction()
      const tasks = action.tasks.map((task) => ({ ...task, dueAt: bench.clock.now() + 5_000 }))
      await bench.store.accept(sample.entry({ ...action, tasks }))
      bench.clock.advance(4_999)
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      bench.clock.advance(1)
      const claim = await worker.next()
      assert.equal(claim.task.subject, idOf(action))
      claim.done()
    })

    test('tasks of one lane are claimed one at a time, in the order of acceptance', async (bench) => {
      const { sample } = bench
      const actions = [1, 2, 3].map(() => sample.runAction({ sessionKey: 'pr:1' }))
      await Promise.all(actions.map((action) => bench.store.accept(sample.entry(action))))
      const worker = startManualWorker(bench.store, ['run'])
      for (const action of actions) {
        const claim = await worker.next()
        assert.equal(claim.task.subject, idOf(action))
        await bench.settled()
        assert.equal(worker.waiting.length, 0, 'the lane is closed meanwhile')
        claim.done()
      }
      await bench.settled()
      assert.equal(bench.store.health().backlog, 0)
    })

    test('a head that waits for its next try keeps its lane closed and its place', async (bench) => {
      const { sample } = bench
      const [first, second] = [
        sample.runAction({ sessionKey: 'pr:1' }),
        sample.runAction({ sessionKey: 'pr:1' }),
      ]
      await bench.store.accept(sample.entry(first, second))
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      claim.again(bench.clock.now() + 60_000)
      bench.clock.advance(59_999)
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      bench.clock.advance(1)
      const retried = await worker.next()
      assert.equal(retried.task.subject, idOf(first))
      retried.done()
      const next = await worker.next()
      assert.equal(next.task.subject, idOf(second))
      next.done()
    })

    test('different lanes, and tasks without one, are performed side by side', async (bench) => {
      const { sample } = bench
      const actions = [
        sample.runAction({ sessionKey: 'pr:1' }),
        sample.runAction({ sessionKey: 'pr:1' }),
        sample.runAction({ sessionKey: 'pr:2' }),
        sample.runAction(),
        sample.runAction(),
      ]
      await bench.store.accept(sample.entry(...actions))
      const worker = startManualWorker(bench.store, ['run'])
      const claims = [await worker.next(), await worker.next(), await worker.next(), await worker.next()]
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      const second = actions[1]
      assert.ok(second && !claims.some((claim) => claim.task.subject === idOf(second)))
      for (const claim of claims) claim.done()
      const last = await worker.next()
      last.done()
    })

    test('no more tasks are performed at one time than `concurrency` says', async (bench) => {
      const { sample } = bench
      const worker = startManualWorker(bench.store, ['run'], 2)
      await bench.store.accept(sample.entry(sample.runAction(), sample.runAction(), sample.runAction()))
      const claim = await worker.next()
      await bench.settled()
      assert.equal(worker.waiting.length, 1)
      claim.done()
      await bench.settled()
      assert.equal(worker.waiting.length, 2)
    })

    test('a worker pool that grows gets more tasks at once', async (bench) => {
      const { sample } = bench
      const worker = startManualWorker(bench.store, ['run'], 1)
      const actions = Array.from({ length: 4 }, () => sample.runAction())
      await bench.store.accept(sample.entry(...actions))
      const claims = [await worker.next()]
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      await worker.resize(3)
      claims.push(await worker.next(), await worker.next())
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      for (const claim of claims) claim.done()
      const last = await worker.next()
      last.done()
    })

    test('a worker pool that shrinks keeps its claims, and claims again only below its new size', async (bench) => {
      const { sample } = bench
      const worker = startManualWorker(bench.store, ['run'], 3)
      await bench.store.accept(sample.entry(...Array.from({ length: 6 }, () => sample.runAction())))
      const claims = [await worker.next(), await worker.next(), await worker.next()]
      await worker.resize(1)
      for (const [index, claim] of claims.entries()) {
        await bench.settled()
        assert.deepEqual([worker.waiting.length, claim.lease.aborted], [0, false], `${index} were settled`)
        claim.done()
      }
      const only = await worker.next()
      await bench.store.accept(sample.entry(sample.runAction()))
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      only.done()
      await worker.next()
    })

    test('the last of several sizes that are set together counts', async (bench) => {
      const { sample } = bench
      const worker = startManualWorker(bench.store, ['run'], 2)
      await bench.store.accept(sample.entry(...Array.from({ length: 9 }, () => sample.runAction())))
      await Promise.all([8, 1, 4].map((concurrency) => worker.resize(concurrency)))
      await bench.settled()
      assert.equal(worker.waiting.length, 4)
    })

    test('a worker pool that drained gets no task, whatever its size', async (bench) => {
      const { sample } = bench
      const worker = startManualWorker(bench.store, ['run'], 1)
      await worker.drain(0)
      await worker.resize(8)
      await bench.store.accept(sample.entry(sample.runAction()))
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
    })

    test('a worker pool gets only its own kinds of tasks', async (bench) => {
      const { sample } = bench
      const beats = startManualWorker(bench.store, ['heartbeat'])
      await bench.store.accept(sample.entry(sample.runAction(), sample.eventAction()))
      bench.clock.advance(1_000)
      const claim = await beats.next()
      assert.equal(claim.task.kind, 'heartbeat')
      claim.done()
      await bench.settled()
      assert.equal(beats.waiting.length, 0)
    })

    test('the attempt number grows when a settlement counts, the number of claims always', async (bench) => {
      const { sample } = bench
      await bench.store.accept(sample.entry(sample.runAction()))
      const worker = startManualWorker(bench.store, ['run'])
      const seen: unknown[] = []
      for (const counts of [true, false, true]) {
        const claim = await worker.next()
        const { attempt, claims, interrupted } = claim.task
        seen.push([attempt, claims, interrupted])
        claim.again(bench.clock.now(), counts)
      }
      assert.deepEqual(seen, [
        [1, 1, false],
        [2, 2, false],
        [2, 3, false],
      ])
    })

    test('what a checkpoint changed is visible at once, and survives a settlement that is not done', async (bench) => {
      const { sample } = bench
      const action = sample.runAction()
      const id = idOf(action)
      await bench.store.accept(sample.entry(action))
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      const before = await claim.load()
      assert.equal(before.run?.stage, 'accepted')
      await claim.checkpoint({ run: { id, state: 'succeeded', stage: 'ran', reply: 'hi', model: undefined } })
      assert.equal((await bench.store.read.run(id))?.reply, 'hi')
      assert.equal((await claim.load()).run?.stage, 'ran')
      claim.again(bench.clock.now(), false)
      const retried = await worker.next()
      const { run } = await retried.load()
      assert.deepEqual(run, { ...before.run, state: 'succeeded', stage: 'ran', reply: 'hi' })
      retried.done()
    })

    test('a field is removed by setting it to undefined', async (bench) => {
      const { sample } = bench
      const action = sample.runAction({ reply: 'hi' })
      await bench.store.accept(sample.entry(action))
      const claim = await startManualWorker(bench.store, ['run']).next()
      await claim.checkpoint({ run: { id: idOf(action), reply: undefined } })
      const run = await bench.store.read.run(idOf(action))
      assert.ok(run !== undefined && !('reply' in run))
    })

    test('a turn is appended once, however often it is sent', async (bench) => {
      const { sample } = bench
      const action = sample.runAction({ sessionKey: 'pr:1' })
      const turn = idOf(action)
      await bench.store.accept(sample.entry(action))
      const claim = await startManualWorker(bench.store, ['run']).next()
      const messages: SessionMessage[] = [
        { role: 'user', text: 'question', at: bench.clock.now(), turn },
        { role: 'assistant', text: 'answer', at: bench.clock.now(), turn },
      ]
      const append = [{ session: 'pr:1', turn, messages }]
      await claim.checkpoint({ append })
      await claim.checkpoint({ append })
      assert.deepEqual(await bench.store.read.session('pr:1'), { key: 'pr:1', messages })
      assert.deepEqual((await claim.load()).history, messages)
    })

    test('load returns the newest messages of the session, oldest first, and the route', async (bench) => {
      await bench.open({ historyMessages: 3 })
      const { sample } = bench
      await bench.store.command({ type: 'set-route', route: { channel: 'slack', to: 'C1' } })
      await bench.store.accept(sample.entry(sample.runAction({ sessionKey: 'pr:1' })))
      const claim = await startManualWorker(bench.store, ['run']).next()
      for (const text of ['a', 'b', 'c', 'd']) {
        const turn = bench.mintId()
        const messages = [{ role: 'user' as const, text, at: bench.clock.now(), turn }]
        await claim.checkpoint({ append: [{ session: 'pr:1', turn, messages }] })
      }
      const work = await claim.load()
      assert.deepEqual(
        work.history.map((message) => message.text),
        ['b', 'c', 'd'],
      )
      assert.deepEqual(work.route, { channel: 'slack', to: 'C1' })
    })

    test('a settlement commits its effects together: the delivery it makes is claimed next', async (bench) => {
      const { sample } = bench
      const action = sample.runAction()
      const delivery = sample.delivery({ runId: idOf(action), to: 'C1' })
      const summary = sample.event({ mode: 'next-heartbeat', origin: { runId: idOf(action) } })
      await bench.store.accept(sample.entry(action))
      const worker = startManualWorker(bench.store, ['run', 'delivery'])
      const claim = await worker.next()
      claim.settle({
        done: true,
        effects: {
          run: { id: idOf(action), state: 'succeeded', stage: 'summarised' },
          events: [summary],
          deliveries: [delivery],
          tasks: [sample.deliveryTask(delivery)],
        },
      })
      const sending = await worker.next()
      const work = await sending.load()
      assert.deepEqual(work.delivery, delivery)
      assert.equal(work.run?.stage, 'summarised')
      assert.deepEqual(work.pending, { all: 1, now: 0 })
      assert.equal(bench.store.health().backlog, 1, 'the run is done, its delivery is not')
      const receipts = [{ id: 'm1' }]
      sending.settle({ done: true, effects: { delivery: { id: delivery.id, state: 'delivered', receipts } } })
      await bench.settled()
      assert.deepEqual(await bench.store.read.delivery(delivery.id), {
        ...delivery,
        state: 'delivered',
        receipts,
      })
      assert.equal(bench.store.health().backlog, 0)
    })

    test('a run is at its last stage when none of its deliveries is open any more, in whatever order they end', async (bench) => {
      const { sample } = bench
      const action = sample.runAction()
      const run = idOf(action)
      const deliveries = ['C1', 'C2', 'C3'].map((to) => sample.delivery({ runId: run, to }))
      const deliveryIds = deliveries.map(({ id }) => id)
      await bench.store.accept(sample.entry(action))
      const worker = startManualWorker(bench.store, ['run', 'delivery'])
      const tasks = deliveries.map((delivery) => sample.deliveryTask(delivery))
      const effects = { run: { id: run, stage: 'summarised' as const, deliveryIds }, deliveries, tasks }
      ;(await worker.next()).settle({ done: true, effects })
      await bench.settled()
      for (const [index, state] of (['delivered', 'skipped', 'delivered'] as const).entries()) {
        assert.equal((await bench.store.read.run(run))?.stage, 'summarised', `${index} ended`)
        const claim = await worker.next()
        const delivery = { id: claim.task.subject ?? '', state }
        claim.settle({ done: true, effects: { delivery, delivered: { run, at: 7 } } })
        await bench.settled()
      }
      const ended = await bench.store.read.run(run)
      assert.deepEqual([ended?.stage, ended?.deliveredAt], ['delivered', 7])
    })

    test('when perform throws, the fault is reported and the task comes again 5 s later', async (bench) => {
      const { sample } = bench
      const faults: unknown[] = []
      const claims: number[] = []
      let performed: () => void = () => {}
      const twice = new Promise<void>((resolve) => {
        performed = resolve
      })
      bench.store.work({
        kinds: ['run'],
        concurrency: 1,
        async perform({ task }) {
          claims.push(task.attempt)
          if (claims.length === 1) throw new Error('a bug')
          performed()
          return { effects: {}, done: true }
        },
        onFault: (error) => faults.push(error),
      })
      const action = sample.runAction()
      await bench.store.accept(sample.entry(action))
      await bench.settled()
      await bench.settled()
      bench.clock.advance(5_000)
      await twice
      assert.equal((faults[0] as Error).message, 'a bug')
      assert.deepEqual(claims, [1, 1])
    })

    test('effects that the store refuses are a fault, and their batch goes on without them', async (bench) => {
      const { sample } = bench
      await bench.store.accept(sample.entry(sample.runAction(), sample.runAction()))
      const worker = startManualWorker(bench.store, ['run'])
      const [bad, good] = [await worker.next(), await worker.next()]
      bad.settle({ done: true, effects: { run: { id: bench.mintId(), stage: 'ran' } } })
      good.done()
      await bench.settled()
      await bench.settled()
      assert.equal(worker.faults.length, 1)
      assert.equal(bench.store.health().backlog, 1)
      bench.clock.advance(5_000)
      const retried = await worker.next()
      assert.equal(retried.task.key, bad.task.key)
      await assert.rejects(retried.checkpoint({ run: { id: bench.mintId(), stage: 'ran' } }), {
        code: 'BAD_ENTRY',
      })
      retried.done()
    })

    test('a lost lease writes nothing, and the task is there for another claim', async (bench) => {
      const { sample } = bench
      const action = sample.runAction()
      await bench.store.accept(sample.entry(action))
      const worker = startManualWorker(bench.store, ['run'])
      const lost = await worker.next()
      await worker.drain(0)
      assert.equal(lost.lease.aborted, true)
      const patch = { run: { id: idOf(action), reply: 'too late' } }
      await assert.rejects(lost.checkpoint(patch), { code: 'LEASE_LOST' })
      await assert.rejects(lost.load(), { code: 'LEASE_LOST' })
      lost.settle({ done: true, effects: patch })
      await bench.settled()
      assert.equal((await bench.store.read.run(idOf(action)))?.reply, undefined)
      const next = await startManualWorker(bench.store, ['run']).next()
      assert.equal(next.task.subject, idOf(action))
      assert.deepEqual([next.task.attempt, next.task.claims, next.task.interrupted], [1, 2, false])
      next.done()
      await bench.settled()
      assert.equal(bench.store.health().backlog, 0)
    })

    test('a run in the session that another run began waits for that run', async (bench) => {
      const { sample } = bench
      const first = sample.runAction()
      const sessionKey = `hook:${idOf(first)}`
      const worker = startManualWorker(bench.store, ['run'])
      await bench.store.accept(sample.entry(first))
      const claim = await worker.next()
      const [second, third] = [sample.runAction({ sessionKey }), sample.runAction({ sessionKey })]
      await bench.store.accept(sample.entry(second, third))
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      claim.done()
      for (const action of [second, third]) {
        const next = await worker.next()
        assert.equal(next.task.subject, idOf(action))
        await bench.settled()
        assert.equal(worker.waiting.length, 0)
        next.done()
      }
    })

    single(
      'after the clock is set back, due tasks are still due and waits are as long as before',
      async (t) => {
        const bench = await createBench(t, subject)
        let ahead = 3_600_000
        const clock = { now: () => bench.clock.now() + ahead }
        const store = await bench.open(clock)
        const sample = createSampler({ mintId: bench.mintId, clock: store })
        const actions = [1, 2].map(() => sample.runAction({ sessionKey: 'pr:1' }))
        await store.accept(sample.entry(...actions))
        await store.command({ type: 'schedule', task: heartbeatTask(store.now() + 1_000) })
        ahead = 0
        const worker = startManualWorker(store, ['run', 'heartbeat'])
        for (const action of actions) {
          const claim = await worker.next()
          assert.equal(claim.task.subject, idOf(action))
          claim.done()
        }
        await bench.settled()
        assert.equal(worker.waiting.length, 0)
        bench.clock.advance(1_000)
        const heartbeat = await worker.next()
        assert.equal(heartbeat.task.kind, 'heartbeat')
        heartbeat.done()
      },
    )

    test('a drain claims nothing more and waits for what is being performed', async (bench) => {
      const { sample } = bench
      const action = sample.runAction()
      await bench.store.accept(sample.entry(action))
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      const drained = worker.drain(30_000)
      await bench.store.accept(sample.entry(sample.runAction()))
      assert.equal(worker.waiting.length, 0)
      assert.equal(claim.lease.aborted, false)
      claim.settle({ done: true, effects: { run: { id: idOf(action), reply: 'just in time' } } })
      await drained
      assert.equal((await bench.store.read.run(idOf(action)))?.reply, 'just in time')
      assert.equal(bench.store.health().backlog, 1)
    })

    test('when its grace is over, a drain aborts the leases and leaves the tasks to be claimed again', async (bench) => {
      const { sample } = bench
      await bench.store.accept(sample.entry(sample.runAction()))
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      const drained = worker.drain(30_000)
      await bench.settled()
      bench.clock.advance(30_000)
      await drained
      assert.equal(claim.lease.aborted, true)
      const store = await bench.open()
      const next = await startManualWorker(store, ['run']).next()
      assert.deepEqual([next.task.claims, next.task.interrupted], [2, false])
      next.done()
    })
  })
}
