/** The contract of `work`: due times, lanes, claims, leases, effects and the drain. */

import assert from 'node:assert/strict'
import type { NewAction } from '../port.ts'
import { heartbeatTask } from '../task-keys.ts'
import { contractPart } from './bench/bench.ts'
import type { HeldClaim } from './bench/manual-worker.ts'
import { createSampler, idOf, idsOf } from './bench/samples.ts'

export const performingContract = contractPart('performing', (test) => {
  test('a task is not claimed before it is due, and then at once', async (bench, sample) => {
    const worker = bench.work(['run'])
    const action = sample.runAction({}, { dueAt: bench.clock.now() + 5_000 })
    await bench.accept(action)
    bench.clock.advance(4_999)
    await worker.idle()
    bench.clock.advance(1)
    assert.equal((await worker.next()).task.subject, idOf(action))
  })

  test('tasks of one lane are claimed one at a time, in the order of acceptance', async (bench, sample) => {
    const actions = [1, 2, 3].map(() => sample.runAction({ sessionKey: 'pr:1' }))
    await Promise.all(actions.map((action) => bench.accept(action)))
    const worker = bench.work(['run'])
    for (const action of actions) {
      const claim = await worker.next()
      assert.equal(claim.task.subject, idOf(action))
      await worker.idle('the lane is closed meanwhile')
      claim.done()
    }
    await bench.settled()
    assert.equal(bench.store.health().backlog, 0)
  })

  test('a head that waits for its next try keeps its lane closed and its place', async (bench, sample) => {
    const actions = [1, 2].map(() => sample.runAction({ sessionKey: 'pr:1' }))
    await bench.accept(...actions)
    const worker = bench.work(['run'])
    const claim = await worker.next()
    claim.again(bench.clock.now() + 60_000)
    bench.clock.advance(59_999)
    await worker.idle()
    bench.clock.advance(1)
    for (const action of actions) {
      const next = await worker.next()
      assert.equal(next.task.subject, idOf(action))
      next.done()
    }
  })

  test('different lanes, and tasks without one, are performed side by side', async (bench, sample) => {
    const [first, second, other] = ['pr:1', 'pr:1', 'pr:2'].map((sessionKey) =>
      sample.runAction({ sessionKey }),
    ) as [NewAction, NewAction, NewAction]
    const free = [sample.runAction(), sample.runAction()]
    await bench.accept(first, second, other, ...free)
    const worker = bench.work(['run'])
    for (const action of [first, other, ...free])
      assert.equal((await worker.next()).task.subject, idOf(action))
    await worker.idle()
  })

  test('a worker pool gets as many tasks at one time as its size, of which the last one set counts', async (bench, sample) => {
    const worker = bench.work(['run'], 1)
    await bench.accept(...Array.from({ length: 7 }, () => sample.runAction()))
    const claims: HeldClaim[] = []
    for (const [sizes, room] of [
      [[], 1],
      [[3], 2],
      [[8, 1, 4], 1],
    ] as const) {
      await Promise.all(sizes.map((size) => worker.resize(size)))
      for (let more = 0; more < room; more += 1) claims.push(await worker.next())
      await worker.idle(`${sizes}`)
    }
    claims.pop()?.done()
    claims.push(await worker.next())
    await worker.resize(1)
    for (const claim of claims) {
      await worker.idle('it has shrunk and keeps its claims')
      assert.equal(claim.lease.aborted, false)
      claim.done()
    }
    await worker.next()
    await worker.idle()
  })

  test('a worker pool that drained gets no task, whatever its size', async (bench, sample) => {
    const worker = bench.work(['run'], 1)
    await worker.drain(0)
    await worker.resize(8)
    await bench.accept(sample.runAction())
    await worker.idle()
  })

  test('a worker pool gets only its own kinds of tasks', async (bench, sample) => {
    const beats = bench.work(['heartbeat'])
    await bench.accept(sample.runAction(), sample.eventAction())
    bench.clock.advance(1_000)
    assert.equal((await beats.next()).task.kind, 'heartbeat')
    await beats.idle()
  })

  test('the attempt number grows when a settlement counts, the number of claims always', async (bench, sample) => {
    await bench.accept(sample.runAction())
    const worker = bench.work(['run'])
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

  test('what a checkpoint changed is visible at once, and survives a settlement that is not done', async (bench, sample) => {
    const action = sample.runAction({ name: 'a field that is removed' })
    const id = idOf(action)
    await bench.accept(action)
    const worker = bench.work(['run'])
    const claim = await worker.next()
    const before = await claim.load()
    assert.equal(before.run?.stage, 'accepted')
    await claim.checkpoint({ run: { id, state: 'succeeded', stage: 'ran', reply: 'hi', name: undefined } })
    assert.equal((await bench.store.read.run(id))?.reply, 'hi')
    assert.equal((await claim.load()).run?.stage, 'ran')
    claim.again(bench.clock.now(), false)
    const { run } = await (await worker.next()).load()
    const { name: _removed, ...kept } = before.run ?? assert.fail()
    assert.deepEqual(run, { ...kept, state: 'succeeded', stage: 'ran', reply: 'hi' })
  })

  test('a turn is appended once, however often it is sent', async (bench, sample) => {
    await bench.accept(sample.runAction({ sessionKey: 'pr:1' }))
    const claim = await bench.claim('run')
    const asked = sample.turn('pr:1', 'question')
    const messages = [...asked.messages, ...sample.turn('pr:1', 'answer', 'assistant').messages]
    for (let time = 0; time < 2; time++) await claim.checkpoint({ append: [{ ...asked, messages }] })
    assert.deepEqual(await bench.store.read.session('pr:1'), { key: 'pr:1', messages })
    assert.deepEqual((await claim.load()).history, messages)
  })

  test(
    'load returns the newest messages, oldest first, and the route',
    { historyMessages: 3 },
    async (bench, sample) => {
      const route = { channel: 'slack', to: 'C1' }
      await bench.store.command({ type: 'set-route', route })
      await bench.accept(sample.runAction({ sessionKey: 'pr:1' }))
      const claim = await bench.claim('run')
      const turns = ['a', 'b', 'c', 'd'].map((text) => sample.turn('pr:1', text))
      for (const turn of turns) await claim.checkpoint({ append: [turn] })
      const newest = turns.slice(1).flatMap(({ messages }) => messages)
      assert.partialDeepStrictEqual(await claim.load(), { history: newest, route })
    },
  )

  test('a settlement commits its effects together: the delivery it makes is claimed next', async (bench, sample) => {
    const action = sample.runAction()
    const delivery = sample.delivery({ runId: idOf(action), to: 'C1' })
    const summary = sample.event({ mode: 'next-heartbeat', origin: { runId: idOf(action) } })
    await bench.accept(action)
    const worker = bench.work(['run', 'delivery'])
    const claim = await worker.next()
    claim.done({
      run: { id: idOf(action), state: 'succeeded', stage: 'summarised' },
      events: [summary],
      deliveries: [delivery],
      tasks: [sample.deliveryTask(delivery)],
    })
    const sending = await worker.next()
    const work = await sending.load()
    assert.deepEqual(work.delivery, delivery)
    assert.equal(work.run?.stage, 'summarised')
    assert.deepEqual(work.pending, { all: 1, now: 0 })
    assert.equal(bench.store.health().backlog, 1, 'the run is done, its delivery is not')
    const receipts = [{ id: 'm1' }]
    sending.done({ delivery: { id: delivery.id, state: 'delivered', receipts } })
    await bench.settled()
    const delivered = { ...delivery, state: 'delivered', receipts }
    assert.deepEqual(await bench.store.read.delivery(delivery.id), delivered)
    assert.equal(bench.store.health().backlog, 0)
  })

  test('a run is at its last stage when none of its deliveries is open any more, in whatever order they end', async (bench, sample) => {
    const action = sample.runAction()
    const run = idOf(action)
    const deliveries = ['C1', 'C2', 'C3'].map((to) => sample.delivery({ runId: run, to }))
    const deliveryIds = idsOf(deliveries)
    await bench.accept(action)
    const worker = bench.work(['run', 'delivery'])
    const tasks = deliveries.map((delivery) => sample.deliveryTask(delivery))
    const effects = { run: { id: run, stage: 'summarised' as const, deliveryIds }, deliveries, tasks }
    ;(await worker.next()).done(effects)
    await bench.settled()
    for (const [index, state] of (['delivered', 'skipped', 'delivered'] as const).entries()) {
      assert.equal((await bench.store.read.run(run))?.stage, 'summarised', `${index} ended`)
      const claim = await worker.next()
      const delivery = { id: claim.task.subject ?? '', state }
      claim.done({ delivery, delivered: { run, at: 7 } })
      await bench.settled()
    }
    const ended = await bench.store.read.run(run)
    assert.deepEqual([ended?.stage, ended?.deliveredAt], ['delivered', 7])
  })

  test('when perform throws, the fault is reported and the task comes again 5 s later', async (bench, sample) => {
    const [faults, claims]: [unknown[], number[]] = [[], []]
    const twice = Promise.withResolvers<void>()
    const bug = new Error('a bug')
    bench.store.work({
      kinds: ['run'],
      concurrency: 1,
      async perform({ task }) {
        claims.push(task.attempt)
        if (claims.length === 1) throw bug
        twice.resolve()
        return { effects: {}, done: true }
      },
      onFault: (error) => faults.push(error),
    })
    await bench.accept(sample.runAction())
    for (let time = 0; time < 2; time++) await bench.settled()
    bench.clock.advance(5_000)
    await twice.promise
    assert.deepEqual([faults, claims], [[bug], [1, 1]])
  })

  test('effects that the store refuses are a fault, and their batch goes on without them', async (bench, sample) => {
    await bench.accept(sample.runAction(), sample.runAction())
    const worker = bench.work(['run'])
    const [bad, good] = [await worker.next(), await worker.next()]
    const refused = { run: { id: bench.mintId(), stage: 'ran' } } as const
    bad.done(refused)
    good.done()
    for (let time = 0; time < 2; time++) await bench.settled()
    assert.equal(worker.faults.length, 1)
    assert.equal(bench.store.health().backlog, 1)
    bench.clock.advance(5_000)
    const retried = await worker.next()
    assert.equal(retried.task.key, bad.task.key)
    await assert.rejects(retried.checkpoint(refused), { code: 'BAD_ENTRY' })
  })

  test('a lost lease writes nothing, and the task is there for another claim', async (bench, sample) => {
    const action = sample.runAction()
    await bench.accept(action)
    const worker = bench.work(['run'])
    const lost = await worker.next()
    await worker.drain(0)
    assert.equal(lost.lease.aborted, true)
    const patch = { run: { id: idOf(action), reply: 'too late' } }
    await assert.rejects(lost.checkpoint(patch), { code: 'LEASE_LOST' })
    await assert.rejects(lost.load(), { code: 'LEASE_LOST' })
    lost.done(patch)
    await bench.settled()
    assert.equal((await bench.store.read.run(idOf(action)))?.reply, undefined)
    const { task, done } = await bench.claim('run')
    assert.partialDeepStrictEqual(task, { subject: idOf(action), attempt: 1, claims: 2, interrupted: false })
    done()
    await bench.settled()
    assert.equal(bench.store.health().backlog, 0)
  })

  test('a run in the session that another run began waits for that run', async (bench, sample) => {
    const first = sample.runAction()
    const sessionKey = `hook:${idOf(first)}`
    const worker = bench.work(['run'])
    await bench.accept(first)
    const claim = await worker.next()
    const [second, third] = [sample.runAction({ sessionKey }), sample.runAction({ sessionKey })]
    await bench.accept(second, third)
    await worker.idle()
    claim.done()
    for (const action of [second, third]) {
      const next = await worker.next()
      assert.equal(next.task.subject, idOf(action))
      await worker.idle()
      next.done()
    }
  })

  test('after the clock is set back, due tasks are still due and waits are as long as before', async (bench) => {
    let ahead = 3_600_000
    const store = await bench.open({ now: () => bench.clock.now() + ahead })
    const sample = createSampler({ mintId: bench.mintId, clock: store })
    const actions = [1, 2].map(() => sample.runAction({ sessionKey: 'pr:1' }))
    await store.accept(sample.entry(...actions))
    await store.command({ type: 'schedule', task: heartbeatTask(store.now() + 1_000) })
    ahead = 0
    const worker = bench.work(['run', 'heartbeat'])
    for (const action of actions) {
      const claim = await worker.next()
      assert.equal(claim.task.subject, idOf(action))
      claim.done()
    }
    await worker.idle()
    bench.clock.advance(1_000)
    assert.equal((await worker.next()).task.kind, 'heartbeat')
  })

  test('a drain claims nothing more and waits for what is being performed', async (bench, sample) => {
    const action = sample.runAction()
    await bench.accept(action)
    const worker = bench.work(['run'])
    const claim = await worker.next()
    const drained = worker.drain(30_000)
    await bench.accept(sample.runAction())
    assert.equal(worker.waiting.length, 0)
    assert.equal(claim.lease.aborted, false)
    claim.done({ run: { id: idOf(action), reply: 'just in time' } })
    await drained
    assert.equal((await bench.store.read.run(idOf(action)))?.reply, 'just in time')
    assert.equal(bench.store.health().backlog, 1)
  })

  test('when its grace is over, a drain aborts the leases and leaves the tasks to be claimed again', async (bench, sample) => {
    await bench.accept(sample.runAction())
    const worker = bench.work(['run'])
    const claim = await worker.next()
    const drained = worker.drain(30_000)
    await bench.settled()
    bench.clock.advance(30_000)
    await drained
    assert.equal(claim.lease.aborted, true)
    await bench.open()
    const { task } = await bench.claim('run')
    assert.deepEqual([task.claims, task.interrupted], [2, false])
  })
})
