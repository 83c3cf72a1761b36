/** The contract of deliveries that an operator sends, or replays after they were parked. */

import assert from 'node:assert/strict'
import type { DeliveryRecord, Effects } from '../port.ts'
import { type ContractBench, contractPart } from './bench/bench.ts'
import { idOf, idsIn, type Sampler } from './bench/samples.ts'

const slack = { channel: 'slack', to: 'C1' }
const whatsapp = { channel: 'whatsapp', to: undefined }

export const adminSendContract = contractPart('sending', (test) => {
  test('a delivery that an operator sends is performed in its lane, and has no run', async (bench, sample) => {
    const { sent, send } = operatorOf(bench, sample)
    const { store } = bench
    const [first, second] = [sent(), sent()]
    for (const delivery of [first, second]) assert.deepEqual(await send(delivery), { ok: true })
    assert.deepEqual(await store.read.delivery(first.id), first)
    assert.equal(store.health().backlog, 2)
    const worker = bench.work(['delivery'])
    const claim = await worker.next()
    assert.deepEqual([claim.task.subject, claim.task.pool], [first.id, 'slack'])
    const { delivery, run } = await claim.load()
    assert.deepEqual([delivery, run], [first, undefined])
    assert.equal(worker.waiting.length, 0, 'one recipient is sent one after the other')
    claim.done()
    assert.equal((await worker.next()).task.subject, second.id)
    assert.equal(store.health().backlog, 1)
  })

  test('over the backlog a delivery is refused and not stored', { backlog: 1 }, async (bench, sample) => {
    const { sent, send } = operatorOf(bench, sample)
    const [first, second] = [sent(), sent()]
    await send(first)
    await assert.rejects(send(second), { code: 'BACKLOG' })
    assert.equal(await bench.store.read.delivery(second.id), undefined)
    assert.ok((await send(first)).ok, 'it is there already')
    ;(await bench.claim('delivery')).done()
    await bench.settled()
    assert.ok((await send(second)).ok)
  })

  test('a delivery that is sent again because the answer was lost stays one delivery, even after it has ended', async (bench, sample) => {
    const { sent, send } = operatorOf(bench, sample)
    const delivery = sent()
    await bench.fault('answer-lost')
    await send(delivery)
    await send(delivery)
    const worker = bench.work(['delivery'])
    ;(await worker.next()).done({ delivery: { id: delivery.id, state: 'delivered' } })
    await bench.settled()
    await send(delivery)
    await worker.idle()
    assert.equal((await bench.store.read.delivery(delivery.id))?.state, 'delivered')
    assert.equal(bench.store.health().backlog, 0)
  })

  test('a parked delivery is pending again with what has arrived, behind what waits in its lane, also after a restart', async (bench, sample) => {
    const { sent, send, park, replay } = operatorOf(bench, sample)
    const parked = await park({ receipts: [{ id: 'm1' }] })
    assert.equal(bench.store.health().backlog, 0)
    const waiting = sent()
    await send(waiting)
    assert.deepEqual(await replay(parked, slack, 7), { ok: true })
    const { id, text, generation, createdAt, receipts } = parked
    const kept = { id, ...slack, text, generation, createdAt, receipts }
    const pending = { ...kept, state: 'pending', attempts: 0, nextAt: 7 }
    const store = await bench.open()
    assert.deepEqual(await store.read.delivery(id), pending)
    assert.equal(store.health().backlog, 2)
    const worker = bench.work(['delivery'])
    const first = await worker.next()
    assert.equal(first.task.subject, waiting.id)
    first.done()
    const claim = await worker.next()
    assert.deepEqual([claim.task.subject, claim.task.attempt, claim.task.pool], [id, 1, 'slack'])
    assert.deepEqual((await claim.load()).delivery, pending)
  })

  test('only a delivery of which nothing has arrived may go somewhere else', async (bench, sample) => {
    const { park, replay } = operatorOf(bench, sample)
    const { read } = bench.store
    const [lost, begun] = [await park(whatsapp), await park({ receipts: [{ id: 'm1' }] })]
    assert.ok((await replay(lost, slack)).ok)
    const moved = await read.delivery(lost.id)
    assert.deepEqual([moved?.channel, moved?.to, moved?.state], ['slack', 'C1', 'pending'])
    for (const to of [
      { channel: 'slack', to: 'C2' },
      { channel: 'terminal', to: 'C1' },
    ])
      assert.equal((await replay(begun, to)).why, 'state')
    assert.deepEqual(await read.delivery(begun.id), begun)
    assert.equal(bench.store.health().backlog, 1)
  })

  test('only a parked delivery is replayed, and none that does not exist', async (bench, sample) => {
    const { sent, send, replay } = operatorOf(bench, sample)
    const pending = sent()
    await send(pending)
    const claim = await bench.claim('delivery')
    for (const state of ['pending', 'delivered', 'skipped'] as const) {
      await claim.checkpoint({ delivery: { id: pending.id, state } })
      const { ok, why, reason = '' } = await replay(pending)
      assert.deepEqual([ok, why, reason.includes(state)], [false, 'state', true])
    }
    for (const id of [bench.mintId(), 'no id at all'])
      assert.equal((await replay({ ...pending, id })).why, 'unknown')
    assert.equal(bench.store.health().backlog, 1)
  })

  test('a run is at its last stage once its parked delivery was replayed and has arrived', async (bench, sample) => {
    const { sent, replay } = operatorOf(bench, sample)
    const { read } = bench.store
    const action = sample.runAction()
    const run = idOf(action)
    const delivery = { ...sent(), runId: run }
    const { id } = delivery
    await bench.accept(action)
    const worker = bench.work(['run', 'delivery'])
    const record = { id: run, stage: 'summarised' as const, deliveryIds: [id] }
    const effects = { run: record, deliveries: [delivery], tasks: [sample.deliveryTask(delivery)] }
    ;(await worker.next()).done(effects)
    ;(await worker.next()).done({ delivery: { id, state: 'parked' }, delivered: { run, at: 1 } })
    await bench.settled()
    assert.equal((await read.run(run))?.stage, 'summarised')
    await replay(delivery)
    const again = await worker.next()
    assert.equal((await again.load()).run?.id, run)
    again.done({ delivery: { id, state: 'delivered' }, delivered: { run, at: 9 } })
    await bench.settled()
    assert.equal((await read.run(run))?.deliveredAt, 9)
  })

  test('a command whose commit failed has changed nothing, on disk or in memory', async (bench, sample) => {
    const { sent, send, park, replay } = operatorOf(bench, sample)
    const [parked, fresh] = [await park(), sent()]
    for (const command of [() => send(fresh), () => replay(parked)]) {
      await bench.fault('commit-fails')
      await assert.rejects(command())
    }
    bench.clock.advance(1000)
    await bench.settled()
    assert.equal(await bench.store.read.delivery(fresh.id), undefined)
    assert.equal((await bench.store.read.delivery(parked.id))?.state, 'parked')
    assert.equal(bench.store.health().backlog, 0)
  })

  test('both commands appear in the stream of changes', async (bench, sample) => {
    const { sent, send, park, replay } = operatorOf(bench, sample)
    const [parked, fresh] = [await park(), sent()]
    const stop = new AbortController()
    const changes = bench.store.changes({ signal: stop.signal })[Symbol.asyncIterator]()
    const first = changes.next()
    await send(fresh)
    await replay(parked)
    for (const [change, { id }] of [
      [await first, fresh],
      [await changes.next(), parked],
    ] as const)
      assert.partialDeepStrictEqual(change.value, { type: 'delivery', id, state: 'pending' })
    stop.abort()
  })

  test('deliveries are listed and counted by their channels', async (bench, sample) => {
    const { sent, send, park, replay } = operatorOf(bench, sample)
    const { read } = bench.store
    const open = async () =>
      (await read.openDeliveries()).toSorted((a, b) => (a.channel < b.channel ? -1 : 1))
    assert.deepEqual(await open(), [])
    const [lost, parked] = [await park(whatsapp), await park()]
    const [pending, other] = [sent(), sent({ channel: 'terminal' })]
    for (const delivery of [pending, other]) await send(delivery)
    assert.deepEqual(await open(), [
      { channel: 'slack', pending: 1, parked: 1 },
      { channel: 'terminal', pending: 1, parked: 0 },
      { channel: 'whatsapp', pending: 0, parked: 1 },
    ])
    const ids = (options: { state?: string; channel?: string }) => idsIn(read.deliveries(options))
    assert.deepEqual(await ids({ channel: 'slack' }), [pending.id, parked.id])
    assert.deepEqual(await ids({ channel: 'slack', state: 'parked' }), [parked.id])
    assert.deepEqual(await ids({ channel: 'signal' }), [])
    await replay(lost, slack)
    assert.deepEqual(await ids({ channel: 'whatsapp' }), [])
    const worker = bench.work(['delivery'])
    for (let claims = 0; claims < 3; claims += 1) {
      const { task, done } = await worker.next()
      done({ delivery: { id: task.subject ?? '', state: 'delivered' } })
    }
    await bench.settled()
    assert.deepEqual(await open(), [{ channel: 'slack', pending: 0, parked: 1 }])
    assert.deepEqual(await ids({ channel: 'slack', state: 'delivered' }), [pending.id, lost.id])
  })
})

/** An operator, who sends messages to Slack. */
function operatorOf(bench: ContractBench, sample: Sampler) {
  const { store } = bench
  const sent = (fields: Partial<DeliveryRecord> = {}): DeliveryRecord => {
    const { runId: _runId, ...delivery } = sample.delivery({ ...slack, ...fields })
    return JSON.parse(JSON.stringify(delivery))
  }
  const send = (delivery: DeliveryRecord) =>
    store.command({ type: 'send', delivery, task: sample.deliveryTask(delivery) })
  return {
    sent,
    send,
    replay(delivery: DeliveryRecord, to = slack, at = Date.UTC(2026, 0, 1)) {
      const task = sample.deliveryTask({ ...delivery, ...to })
      return store.command({ type: 'replay-delivery', delivery: delivery.id, at, to, task })
    },
    /** Makes a delivery that was sent and parked, with all the fields that it may have then. */
    async park(fields: Partial<DeliveryRecord> = {}): Promise<DeliveryRecord> {
      const delivery = sent(fields)
      await send(delivery)
      const worker = bench.work(['delivery'])
      const parked: Effects['delivery'] = {
        ...{ id: delivery.id, state: 'parked', attempts: 8, code: 'unavailable' },
        ...{ reason: 'The service is down.', firstTriedAt: 2, unsureSince: 3, endedAt: 5 },
      }
      ;(await worker.next()).done({ delivery: parked })
      await worker.drain(1_000)
      return { ...delivery, ...parked }
    },
  }
}
