/** The contract of heartbeats: tasks are scheduled by key, and events are shown and consumed by id. */

import assert from 'node:assert/strict'
import { heartbeatTask, heartbeatWindowMs } from '../task-keys.ts'
import { contractPart } from './bench/bench.ts'
import { idOf, idsOf } from './bench/samples.ts'

export const heartbeatContract = contractPart('heartbeats', (test) => {
  test('a burst of events that ask for now is one heartbeat, due by the first of them', async (bench, sample) => {
    const worker = bench.work(['heartbeat'])
    await bench.accept(sample.eventAction())
    bench.clock.advance(heartbeatWindowMs - 1)
    await Promise.all([1, 2, 3].map(() => bench.accept(sample.eventAction())))
    assert.equal(worker.waiting.length, 0)
    bench.clock.advance(1)
    const claim = await worker.next()
    assert.equal((await claim.load()).events.length, 4)
    claim.done()
    bench.clock.advance(60_000)
    await worker.idle()
  })

  test('scheduling brings a waiting task forward and never puts it off', async (bench) => {
    const worker = bench.work(['heartbeat'])
    const start = bench.clock.now()
    for (const ms of [30_000, 10_000, 20_000]) await bench.scheduleHeartbeat(ms)
    bench.clock.advance(9_999)
    await worker.idle()
    bench.clock.advance(1)
    assert.equal((await worker.next()).task.dueAt, start + 10_000)
  })

  test('a task that is scheduled while it is claimed is claimed again after it settled', async (bench) => {
    const worker = bench.work(['heartbeat'])
    await bench.scheduleHeartbeat()
    const claim = await worker.next()
    for (const ms of [500, 250, 400]) await bench.scheduleHeartbeat(ms)
    bench.clock.advance(1_000)
    await worker.idle('one claim at a time')
    claim.done()
    const again = await worker.next()
    assert.deepEqual([again.task.attempt, again.task.claims], [1, 1])
    again.done()
    bench.clock.advance(60_000)
    await worker.idle()
  })

  test('the settlement of a task may schedule it again', async (bench) => {
    const worker = bench.work(['heartbeat'])
    await bench.scheduleHeartbeat()
    ;(await worker.next()).done({ tasks: [heartbeatTask(bench.clock.now() + 1_000)] })
    await worker.idle()
    bench.clock.advance(1_000)
    await worker.next()
  })

  test('scheduling a task does not cut short its wait for the next try', async (bench, sample) => {
    const worker = bench.work(['heartbeat'])
    await bench.accept(sample.eventAction())
    bench.clock.advance(1_000)
    const failed = await worker.next()
    await bench.accept(sample.eventAction())
    failed.again(bench.clock.now() + 60_000)
    await bench.settled()
    await bench.accept(sample.eventAction())
    bench.clock.advance(59_999)
    await worker.idle()
    bench.clock.advance(1)
    assert.equal((await worker.next()).task.attempt, 2)
  })

  test('`expedite` brings forward a task that waits for its next try, and no other', async (bench) => {
    const worker = bench.work(['heartbeat'])
    const start = bench.clock.now()
    const expedite = (ms: number) =>
      bench.store.command({ type: 'expedite', task: 'heartbeat:main', dueAt: start + ms })
    await expedite(0)
    await bench.scheduleHeartbeat(1_000)
    await expedite(10)
    bench.clock.advance(999)
    await worker.idle('it waits for its first try')
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
    await worker.idle()
  })

  test('a due heartbeat survives a restart', async (bench) => {
    await bench.scheduleHeartbeat(1_000)
    await bench.open()
    const worker = bench.work(['heartbeat'])
    await worker.idle()
    bench.clock.advance(1_000)
    await worker.next()
  })

  test('events that asked for now are shown first, then the oldest, 50 at most', async (bench, sample) => {
    const patient = Array.from({ length: 60 }, () => sample.eventAction({ mode: 'next-heartbeat' }))
    const urgent = [sample.eventAction(), sample.eventAction()]
    await bench.accept(...patient, ...urgent)
    bench.clock.advance(1_000)
    const { pending, events } = await (await bench.claim('heartbeat')).load()
    assert.deepEqual(pending, { all: 62, now: 2 })
    assert.deepEqual(idsOf(events), [...urgent, ...patient.slice(0, 48)].map(idOf))
  })

  test('only some of many large events are loaded, the first one always', async (bench, sample) => {
    const prompt = 'x'.repeat(3_000_000)
    const actions = [1, 2].map(() => sample.eventAction({ prompt }))
    for (const action of actions) await bench.accept(action)
    bench.clock.advance(1_000)
    const { events, pending } = await (await bench.claim('heartbeat')).load()
    assert.deepEqual([idsOf(events), pending.all], [actions.slice(0, 1).map(idOf), 2])
  })

  test('exactly the named events are consumed, and only once', async (bench, sample) => {
    const [one, two] = [sample.eventAction(), sample.eventAction({ mode: 'next-heartbeat' })]
    const three = sample.eventAction()
    await bench.accept(one, two, three)
    bench.clock.advance(1_000)
    const claim = await bench.claim('heartbeat')
    const run = sample.run({ kind: 'heartbeat', sessionKey: 'main' })
    const consume = { by: run.id, at: bench.clock.now(), events: [idOf(one), idOf(two)] }
    await claim.checkpoint({ run, consume })
    await claim.checkpoint({ consume: { ...consume, by: bench.mintId() } })
    const work = await claim.load()
    assert.deepEqual(work.pending, { all: 1, now: 1 })
    assert.deepEqual(idsOf(work.events), [idOf(three)])
    const consumed = { state: 'consumed', consumedBy: run.id, consumedAt: bench.clock.now() }
    assert.partialDeepStrictEqual(await bench.store.read.event(idOf(one)), consumed)
    assert.equal((await bench.store.read.run(run.id))?.kind, 'heartbeat')
    claim.done()
    await bench.open()
    await bench.scheduleHeartbeat()
    const next = await bench.claim('heartbeat')
    assert.deepEqual((await next.load()).pending, { all: 1, now: 1 })
  })
})
