/** The contract of retention: ended history is deleted when it is old, and open records never are. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { ContractContext, ContractSubject } from './bench/bench.ts'
import { testsOf } from './bench/contract-test.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { idOf } from './bench/samples.ts'

const keepMs = 7 * 86_400_000

export function retentionContract(subject: ContractSubject): void {
  describe(`${subject.name}: retention`, { concurrency: 4, timeout: 30_000 }, () => {
    const test = testsOf(subject)

    test('ended history is deleted after its time, with its requests, messages and deliveries', async (bench) => {
      await bench.open({ keepMs })
      const { sample } = bench
      const action = sample.runAction({ sessionKey: 'pr:1' })
      const id = idOf(action)
      const entry = sample.entry(action)
      const ignored = sample.request({ outcome: 'ignored', status: 200 })
      const delivery = sample.delivery({ runId: id, state: 'delivered', endedAt: bench.clock.now() })
      await bench.store.accept(entry)
      bench.store.note(ignored)
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      const messages = [{ role: 'user' as const, text: 'hi', at: bench.clock.now(), turn: id }]
      claim.settle({
        done: true,
        effects: {
          run: { id, state: 'succeeded', ranAt: bench.clock.now(), deliveryIds: [delivery.id] },
          append: [{ session: 'pr:1', turn: id, messages }],
          deliveries: [delivery],
        },
      })
      await bench.settled()
      bench.clock.advance(keepMs - 60_000)
      await bench.settled()
      const { read } = bench.store
      assert.ok((await read.run(id)) && (await read.request(ignored.id)) && (await read.session('pr:1')))
      bench.clock.advance(180_000)
      await bench.settled()
      const anythingLeft = async () =>
        (await read.session('pr:1')) ??
        (await read.run(id)) ??
        (await read.delivery(delivery.id)) ??
        (await read.request(entry.request.id)) ??
        (await read.request(ignored.id))
      await untilUndefined(bench, anythingLeft)
      assert.equal(await read.run(id), undefined)
      assert.equal(await read.request(entry.request.id), undefined)
      assert.equal(await read.request(ignored.id), undefined)
      assert.equal(await read.delivery(delivery.id), undefined)
      assert.equal(await read.session('pr:1'), undefined)
    })

    test('queued runs, pending events and unsent deliveries stay, and so do their requests', async (bench) => {
      await bench.open({ keepMs })
      const { sample } = bench
      const [done, queued, event] = [sample.runAction(), sample.runAction(), sample.eventAction()]
      const entry = sample.entry(done, queued, event)
      const delivery = sample.delivery({ runId: idOf(done) })
      await bench.store.accept(entry)
      const worker = startManualWorker(bench.store, ['run'], 1)
      const claim = await worker.next()
      claim.settle({
        done: true,
        effects: {
          run: { id: idOf(done), state: 'succeeded', deliveryIds: [delivery.id] },
          deliveries: [delivery],
          tasks: [sample.deliveryTask(delivery)],
        },
      })
      await worker.next()
      bench.clock.advance(2 * keepMs)
      await bench.settled()
      const { read } = bench.store
      assert.ok(await read.request(entry.request.id))
      assert.ok(await read.run(idOf(done)), 'its delivery still needs it')
      assert.ok(await read.run(idOf(queued)))
      assert.ok(await read.event(idOf(event)))
      assert.ok(await read.delivery(delivery.id))
    })

    test('a dedupe key is known until it expires, even if its run was deleted', async (bench) => {
      await bench.open({ keepMs })
      const { sample } = bench
      const dedupe = { scope: 's', key: 'k', until: bench.clock.now() + 3 * keepMs }
      const entry = sample.entry(sample.runAction({}, { dedupe }))
      const original = entry.actions[0]?.record.id ?? ''
      await bench.store.accept(entry)
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      claim.settle({ done: true, effects: { run: { id: original, state: 'succeeded' } } })
      await bench.settled()
      bench.clock.advance(2 * keepMs)
      await untilUndefined(bench, () => bench.store.read.run(original))
      const again = sample.entry(sample.runAction({}, { dedupe }))
      const seen = { outcome: 'duplicate', original, request: entry.request.id }
      assert.deepEqual((await bench.store.accept(again)).actions, [seen])
      bench.clock.advance(keepMs)
      const later = { ...dedupe, until: bench.clock.now() + 1000 }
      const repeated = await bench.store.accept(sample.entry(sample.runAction({}, { dedupe: later })))
      assert.equal(repeated.actions[0]?.outcome, 'accepted')
    })

    test('a shorter retention time deletes at once', async (bench) => {
      await bench.open({ keepMs })
      const { sample } = bench
      const old = sample.request({ outcome: 'ignored', status: 200 })
      bench.store.note(old)
      await bench.settled()
      bench.clock.advance(3_600_000)
      const late = sample.request({ outcome: 'ignored', status: 200 })
      bench.store.note(late)
      await bench.settled()
      assert.ok(await bench.store.read.request(old.id))
      bench.store.configure({ keepMs: 1_800_000, backlog: 1_000 })
      await untilDeleted(bench, old.id)
      assert.ok(await bench.store.read.request(late.id))
    })

    test('a longer retention time keeps the history that was not deleted yet', async (bench) => {
      await bench.open({ keepMs: 3_600_000 })
      const { sample } = bench
      const request = sample.request({ outcome: 'ignored', status: 200 })
      bench.store.note(request)
      await bench.settled()
      bench.store.configure({ keepMs, backlog: 1_000 })
      for (const ms of [2 * 3_600_000, 60_000]) {
        bench.clock.advance(ms)
        await bench.settled()
      }
      assert.ok(await bench.store.read.request(request.id))
      bench.clock.advance(keepMs)
      await untilDeleted(bench, request.id)
    })

    test('a large amount of old history is deleted in slices, and no call waits for all of it', async (bench) => {
      await bench.open({ keepMs, backlog: 10_000 })
      const { sample } = bench
      for (let batch = 0; batch < 20; batch++) {
        for (let i = 0; i < 100; i++) bench.store.note(sample.request({ outcome: 'ignored', status: 200 }))
        await bench.settled()
      }
      bench.clock.advance(2 * keepMs)
      await bench.settled()
      let left = (await bench.store.read.requests({ limit: 500 })).items.length
      for (let slice = 0; left > 0 && slice < 500; slice++) {
        bench.clock.advance(1_000)
        await bench.settled()
        left = (await bench.store.read.requests({ limit: 500 })).items.length
      }
      assert.equal(left, 0)
    })
  })
}

const untilDeleted = (bench: ContractContext, id: string) =>
  untilUndefined(bench, () => bench.store.read.request(id))

/** Moves the clock until a read finds nothing. A pass takes as many slices as the machine needs, with a pause between them. */
async function untilUndefined(bench: ContractContext, read: () => Promise<unknown>): Promise<void> {
  for (let slice = 0; slice < 100; slice++) {
    await bench.settled()
    if ((await read()) === undefined) return
    bench.clock.advance(1_000)
  }
  assert.fail('it is still there')
}
