/** The contract of deliveries that an operator sends, or replays after they were parked. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CommandResult, DeliveryRecord, Id, Store } from '../port.ts'
import { type ContractContext, type ContractSubject, openBench } from './bench/bench.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler, idOf, type Sampler } from './bench/samples.ts'

const slack = { channel: 'slack', to: 'C1' }

export function adminSendContract(subject: ContractSubject): void {
  describe(`${subject.name}: sending`, { concurrency: 4, timeout: 30_000 }, () => {
    test('a delivery that an operator sends is performed in its lane, and has no run', async (t) => {
      const { store, sample } = await open(t)
      const [first, second] = [sentByOperator(sample), sentByOperator(sample)]
      for (const delivery of [first, second])
        assert.deepEqual(await send(store, sample, delivery), { ok: true })
      assert.deepEqual(await store.read.delivery(first.id), first)
      assert.equal(store.health().backlog, 2)
      const worker = startManualWorker(store, ['delivery'])
      const claim = await worker.next()
      assert.deepEqual([claim.task.subject, claim.task.pool], [first.id, 'slack'])
      const { delivery, run } = await claim.load()
      assert.deepEqual([delivery, run], [first, undefined])
      assert.equal(worker.waiting.length, 0, 'one recipient is sent one after the other')
      claim.done()
      assert.equal((await worker.next()).task.subject, second.id)
      assert.equal(store.health().backlog, 1)
    })

    test('over the backlog a delivery is refused and not stored', async (t) => {
      const { bench, store, sample } = await open(t)
      store.configure({ keepMs: 1_000_000, backlog: 1 })
      const [first, second] = [sentByOperator(sample), sentByOperator(sample)]
      await send(store, sample, first)
      await assert.rejects(send(store, sample, second), { code: 'BACKLOG' })
      assert.equal(await store.read.delivery(second.id), undefined)
      assert.ok((await send(store, sample, first)).ok, 'it is there already')
      const claim = await startManualWorker(store, ['delivery']).next()
      claim.done()
      await bench.settled()
      assert.ok((await send(store, sample, second)).ok)
    })

    test('a delivery that is sent again because the answer was lost stays one delivery, even after it has ended', async (t) => {
      const { bench, store, sample } = await open(t)
      const delivery = sentByOperator(sample)
      await bench.fault('answer-lost')
      await send(store, sample, delivery)
      await send(store, sample, delivery)
      const worker = startManualWorker(store, ['delivery'])
      ;(await worker.next()).settle({
        done: true,
        effects: { delivery: { id: delivery.id, state: 'delivered' } },
      })
      await bench.settled()
      await send(store, sample, delivery)
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
      assert.equal((await store.read.delivery(delivery.id))?.state, 'delivered')
      assert.equal(store.health().backlog, 0)
    })

    test('a parked delivery is pending again with what has arrived, behind what waits in its lane', async (t) => {
      const { bench, store, sample } = await open(t)
      const parked = await park(bench, sample, sentByOperator(sample), { receipts: [{ id: 'm1' }] })
      assert.equal(store.health().backlog, 0)
      const waiting = sentByOperator(sample)
      await send(store, sample, waiting)
      assert.deepEqual(await replay(store, sample, parked, slack, 7), { ok: true })
      const { id, text, generation, createdAt, receipts } = parked
      const pending = {
        id,
        ...slack,
        text,
        generation,
        createdAt,
        receipts,
        state: 'pending',
        attempts: 0,
        nextAt: 7,
      }
      assert.deepEqual(await store.read.delivery(id), pending)
      assert.equal(store.health().backlog, 2)
      const worker = startManualWorker(store, ['delivery'])
      const first = await worker.next()
      assert.equal(first.task.subject, waiting.id)
      first.done()
      const claim = await worker.next()
      assert.deepEqual([claim.task.subject, claim.task.attempt, claim.task.pool], [id, 1, 'slack'])
      assert.deepEqual((await claim.load()).delivery, pending)
    })

    test('only a delivery of which nothing has arrived may go somewhere else', async (t) => {
      const { bench, store, sample } = await open(t)
      const lost = await park(
        bench,
        sample,
        sentByOperator(sample, { channel: 'whatsapp', to: undefined }),
        {},
      )
      const begun = await park(bench, sample, sentByOperator(sample), { receipts: [{ id: 'm1' }] })
      assert.ok((await replay(store, sample, lost, slack)).ok)
      const moved = await store.read.delivery(lost.id)
      assert.deepEqual([moved?.channel, moved?.to, moved?.state], ['slack', 'C1', 'pending'])
      for (const to of [
        { channel: 'slack', to: 'C2' },
        { channel: 'terminal', to: 'C1' },
      ]) {
        const refused = await replay(store, sample, begun, to)
        assert.deepEqual([refused.ok, refused.why], [false, 'state'])
      }
      assert.deepEqual(await store.read.delivery(begun.id), begun)
      assert.equal(store.health().backlog, 1)
    })

    test('only a parked delivery is replayed, and none that does not exist', async (t) => {
      const { bench, store, sample } = await open(t)
      const pending = sentByOperator(sample)
      await send(store, sample, pending)
      const [claim] = [await startManualWorker(store, ['delivery']).next()]
      for (const state of ['pending', 'delivered', 'skipped'] as const) {
        await claim.checkpoint({ delivery: { id: pending.id, state } })
        const result = await replay(store, sample, pending)
        assert.deepEqual([result.ok, result.why], [false, 'state'])
        assert.match(result.reason ?? '', new RegExp(state))
      }
      for (const id of [bench.mintId(), 'no id at all']) {
        const result = await replay(store, sample, { ...pending, id })
        assert.deepEqual([result.ok, result.why], [false, 'unknown'])
      }
      assert.equal(store.health().backlog, 1)
    })

    test('a run is at its last stage once its parked delivery was replayed and has arrived', async (t) => {
      const { bench, store, sample } = await open(t)
      const action = sample.runAction()
      const run = idOf(action)
      const delivery = { ...sentByOperator(sample), runId: run }
      await store.accept(sample.entry(action))
      const worker = startManualWorker(store, ['run', 'delivery'])
      const record = { id: run, stage: 'summarised' as const, deliveryIds: [delivery.id] }
      const effects = { run: record, deliveries: [delivery], tasks: [sample.deliveryTask(delivery)] }
      ;(await worker.next()).settle({ done: true, effects })
      ;(await worker.next()).settle({
        done: true,
        effects: { delivery: { id: delivery.id, state: 'parked' }, delivered: { run, at: 1 } },
      })
      await bench.settled()
      assert.equal((await store.read.run(run))?.stage, 'summarised')
      await replay(store, sample, delivery)
      const again = await worker.next()
      assert.equal((await again.load()).run?.id, run)
      again.settle({
        done: true,
        effects: { delivery: { id: delivery.id, state: 'delivered' }, delivered: { run, at: 9 } },
      })
      await bench.settled()
      assert.equal((await store.read.run(run))?.deliveredAt, 9)
    })

    test('a command whose commit failed has changed nothing, on disk or in memory', async (t) => {
      const { bench, store, sample } = await open(t)
      const parked = await park(bench, sample, sentByOperator(sample), {})
      const fresh = sentByOperator(sample)
      await bench.fault('commit-fails')
      await assert.rejects(send(store, sample, fresh))
      await bench.fault('commit-fails')
      await assert.rejects(replay(store, sample, parked))
      bench.clock.advance(1000)
      await bench.settled()
      assert.equal(await store.read.delivery(fresh.id), undefined)
      assert.equal((await store.read.delivery(parked.id))?.state, 'parked')
      assert.equal(store.health().backlog, 0)
    })

    test('a cancel and a resume survive the process', async (t) => {
      const { bench, store, sample } = await open(t)
      const parked = await park(bench, sample, sentByOperator(sample), {})
      await replay(store, sample, parked)
      const fresh = sentByOperator(sample, { to: 'C2' })
      await send(store, sample, fresh)
      const worker = startManualWorker(await bench.open(), ['delivery'])
      const claimed = [await worker.next(), await worker.next()].map(({ task }) => task.subject)
      assert.deepEqual(claimed.sort(), [parked.id, fresh.id].sort())
      assert.equal(bench.store.health().backlog, 2)
    })

    test('both commands appear in the stream of changes', async (t) => {
      const { bench, store, sample } = await open(t)
      const parked = await park(bench, sample, sentByOperator(sample), {})
      const stop = new AbortController()
      const changes = store.changes({ signal: stop.signal })[Symbol.asyncIterator]()
      const [fresh, first] = [sentByOperator(sample), changes.next()]
      await send(store, sample, fresh)
      await replay(store, sample, parked)
      const listed = [(await first).value, (await changes.next()).value]
      assert.deepEqual(
        listed.map(({ type, id, state }) => [type, id, state]),
        [fresh, parked].map(({ id }) => ['delivery', id, 'pending']),
      )
      stop.abort()
    })

    test('deliveries are listed and counted by their channels', async (t) => {
      const { bench, store, sample } = await open(t)
      assert.deepEqual(await store.read.openDeliveries(), [])
      const lost = await park(
        bench,
        sample,
        sentByOperator(sample, { channel: 'whatsapp', to: undefined }),
        {},
      )
      const parked = await park(bench, sample, sentByOperator(sample), {})
      const [pending, other] = [sentByOperator(sample), sentByOperator(sample, { channel: 'terminal' })]
      for (const delivery of [pending, other]) await send(store, sample, delivery)
      assert.deepEqual(byName(await store.read.openDeliveries()), [
        { channel: 'slack', pending: 1, parked: 1 },
        { channel: 'terminal', pending: 1, parked: 0 },
        { channel: 'whatsapp', pending: 0, parked: 1 },
      ])
      const ids = async (options: { state?: string; channel?: string }) =>
        (await store.read.deliveries(options)).items.map(({ id }) => id)
      assert.deepEqual(await ids({ channel: 'slack' }), [pending.id, parked.id])
      assert.deepEqual(await ids({ channel: 'slack', state: 'parked' }), [parked.id])
      assert.deepEqual(await ids({ channel: 'signal' }), [])
      await replay(store, sample, lost, slack)
      assert.deepEqual(await ids({ channel: 'whatsapp' }), [])
      const worker = startManualWorker(store, ['delivery'])
      for (let claims = 0; claims < 3; claims += 1) {
        const { task, settle } = await worker.next()
        settle({ done: true, effects: { delivery: { id: task.subject ?? '', state: 'delivered' } } })
      }
      await bench.settled()
      assert.deepEqual(await store.read.openDeliveries(), [{ channel: 'slack', pending: 0, parked: 1 }])
      assert.deepEqual(await ids({ channel: 'slack', state: 'delivered' }), [pending.id, lost.id])
    })

    async function open(t: Parameters<typeof openBench>[0]) {
      const bench = await openBench(t, subject)
      return { bench, store: bench.store, sample: createSampler(bench) }
    }
  })
}

function sentByOperator(sample: Sampler, fields: Partial<DeliveryRecord> = {}): DeliveryRecord {
  const { runId: _runId, ...delivery } = sample.delivery({ ...slack, ...fields })
  return JSON.parse(JSON.stringify(delivery))
}

function send(store: Store, sample: Sampler, delivery: DeliveryRecord): Promise<CommandResult> {
  return store.command({ type: 'send', delivery, task: sample.deliveryTask(delivery) })
}

function replay(
  store: Store,
  sample: Sampler,
  delivery: DeliveryRecord,
  to = slack,
  at = Date.UTC(2026, 0, 1),
): Promise<CommandResult> {
  const task = sample.deliveryTask({ ...delivery, ...to })
  return store.command({ type: 'replay-delivery', delivery: delivery.id, at, to, task })
}

/** A delivery that was sent and parked, with all the fields that it may have then. */
async function park(
  bench: ContractContext,
  sample: Sampler,
  delivery: DeliveryRecord,
  fields: Partial<DeliveryRecord>,
): Promise<DeliveryRecord> {
  await send(bench.store, sample, delivery)
  const worker = startManualWorker(bench.store, ['delivery'])
  const claim = await worker.next()
  const parked: Partial<DeliveryRecord> & { id: Id } = {
    id: delivery.id,
    state: 'parked',
    attempts: 8,
    code: 'unavailable',
    reason: 'The service is down.',
    firstTriedAt: 2,
    unsureSince: 3,
    endedAt: 5,
    ...fields,
  }
  claim.settle({ done: true, effects: { delivery: parked } })
  await worker.drain(1_000)
  return { ...delivery, ...parked }
}

function byName<Item extends { readonly channel: string }>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => (a.channel < b.channel ? -1 : 1))
}
