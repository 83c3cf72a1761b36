/** The contract of finding: what a pasted text names. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { FoundRecord } from '../port.ts'
import type { ContractSubject } from './bench/bench.ts'
import { testsOf } from './bench/contract-test.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { idOf } from './bench/samples.ts'

export function findingContract(subject: ContractSubject): void {
  describe(`${subject.name}: finding`, { concurrency: 4, timeout: 30_000 }, () => {
    const test = testsOf(subject)

    test('a whole id and the end of an id find a record of each kind, in memory too', async (bench) => {
      const { sample } = bench
      const [run, event] = [sample.runAction(), sample.eventAction()]
      const entry = sample.entry(run, event)
      await bench.store.accept(entry)
      const delivery = sample.delivery()
      await bench.store.command({ type: 'send', delivery, task: sample.deliveryTask(delivery) })
      const refused = sample.request({ outcome: 'refused', status: 401 })
      bench.store.note(refused)
      const all: FoundRecord[] = [
        { kind: 'request', id: entry.request.id },
        { kind: 'run', id: idOf(run) },
        { kind: 'event', id: idOf(event) },
        { kind: 'delivery', id: delivery.id },
        { kind: 'request', id: refused.id },
      ]
      const { find } = bench.store.read
      for (const found of all) {
        for (const text of [
          found.id,
          ` ${found.id.toUpperCase()}\n`,
          found.id.slice(-12),
          found.id.slice(-6),
        ])
          assert.deepEqual(await find(text), [found], `${found.kind} by ${text}`)
        assert.deepEqual(await find(found.id.slice(-3)), [], 'three characters would find nearly anything')
      }
    })

    test("a sender's id of a delivery, a session and a generation are found", async (bench) => {
      const { sample } = bench
      const guid = 'c9bf9e57-1685-4c89-bafb-ff5af830be8a'
      const generationDigest = 'abcdef0123456789'
      const facts = { deliveryId: guid, generation: 12, generationDigest } as const
      const request = sample.request({ ...facts, outcome: 'ignored' })
      bench.store.note(request)
      const [waiting, done] = [
        sample.runAction({ sessionKey: 'pr:2' }),
        sample.runAction({ sessionKey: 'pr:1' }),
      ]
      await bench.store.accept(sample.entry(done))
      const worker = startManualWorker(bench.store, ['run'], 1)
      const claim = await worker.next()
      await bench.store.accept(sample.entry(waiting))
      const messages = [{ role: 'user' as const, text: 'hi', at: bench.clock.now(), turn: idOf(done) }]
      await claim.checkpoint({ append: [{ session: 'pr:1', turn: idOf(done), messages }] })
      const { find } = bench.store.read
      assert.deepEqual(await find(guid), [{ kind: 'request', id: request.id }])
      assert.deepEqual(await find('pr:1'), [{ kind: 'session', id: 'pr:1' }])
      assert.deepEqual(await find('pr:2'), [{ kind: 'session', id: 'pr:2' }], 'before it has a turn')
      assert.deepEqual(await find('12'), [{ kind: 'generation', id: '12' }])
      assert.deepEqual(await find(`${generationDigest}${'0'.repeat(48)}`), [{ kind: 'generation', id: '12' }])
      for (const text of ['', ' ', '13', 'pr:3', "' OR 1=1", '%', '-', '\ud83d'])
        assert.deepEqual(await find(text), [], text)
    })

    test('at most 20 are found', async (bench) => {
      const { sample } = bench
      for (let i = 0; i < 30; i += 1)
        bench.store.note(sample.request({ outcome: 'ignored', deliveryId: 'same' }))
      await bench.settled()
      assert.equal((await bench.store.read.find('same')).length, 20)
    })
  })
}
