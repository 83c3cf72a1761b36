/** The contract of `busy: 'reject'`: a run that meets an open run of its session is recorded as cancelled, and not performed. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { ContractContext, ContractSubject } from './bench/bench.ts'
import { testsOf } from './bench/contract-test.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler, idOf } from './bench/samples.ts'

const sessionKey = 'pr:1'

export function busyContract(subject: ContractSubject): void {
  describe(`${subject.name}: busy sessions`, { concurrency: 4, timeout: 30_000 }, () => {
    const test = testsOf(subject)

    test('a run that meets another one of its session ends as cancelled, with nothing to do', async (bench) => {
      const { accept, reject } = createSender(bench)
      assert.equal((await accept(reject())).outcome, 'accepted')
      const action = reject()
      assert.deepEqual(await accept(action), { outcome: 'busy', id: idOf(action) })
      assert.equal(bench.store.health().backlog, 1)
      const now = bench.clock.now()
      assert.deepEqual(await bench.store.read.run(idOf(action)), {
        ...action.record,
        state: 'cancelled',
        stage: 'cancelled',
        error: {
          code: 'BUSY',
          message: 'another run of its session is queued or under way',
          retryable: true,
        },
        cancelledAt: now,
      })
      const worker = startManualWorker(bench.store, ['run'])
      ;(await worker.next()).done()
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
    })

    test('a session is busy while its run is performed or waits for its next try, and free after', async (bench) => {
      const { accept, queue, reject } = createSender(bench)
      const worker = startManualWorker(bench.store, ['run'])
      await accept(queue())
      const claim = await worker.next()
      assert.equal((await accept(reject())).outcome, 'busy')
      claim.again(bench.clock.now() + 60_000)
      await bench.settled()
      assert.equal((await accept(reject())).outcome, 'busy')
      assert.equal((await accept(queue())).outcome, 'accepted', 'who does not mind is queued')
      bench.clock.advance(60_000)
      for (let time = 0; time < 2; time++) (await worker.next()).done()
      await bench.settled()
      assert.equal((await accept(reject())).outcome, 'accepted')
    })

    test('of two in one batch the second is busy, and so is the second of one request', async (bench) => {
      const { sample } = bench
      const { accept, reject } = createSender(bench)
      const both = await Promise.all([reject(), reject()].map(accept))
      assert.deepEqual(
        both.map(({ outcome }) => outcome),
        ['accepted', 'busy'],
      )
      const other = () => sample.runAction({ sessionKey: 'pr:2' }, { busy: 'reject' })
      const entry = sample.entry(other(), other(), sample.eventAction())
      const { actions } = await bench.store.accept(entry)
      assert.deepEqual(
        actions.map(({ outcome }) => outcome),
        ['accepted', 'busy', 'accepted'],
      )
      assert.deepEqual(await bench.store.read.request(entry.request.id), entry.request)
    })

    test('a run in the session that another run began meets that run', async (bench) => {
      const { sample } = bench
      const { accept } = createSender(bench)
      const first = sample.runAction({}, { busy: 'reject' })
      assert.equal((await accept(first)).outcome, 'accepted')
      const follow = () => sample.runAction({ sessionKey: `hook:${idOf(first)}` }, { busy: 'reject' })
      assert.equal((await accept(follow())).outcome, 'busy')
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      assert.equal((await accept(follow())).outcome, 'busy')
      claim.done()
      await bench.settled()
      const later = follow()
      assert.equal((await accept(later)).outcome, 'accepted')
      assert.equal((await worker.next()).task.subject, idOf(later))
    })

    test('a busy entry is answered alike when it is sent again, and a duplicate of it names it', async (bench) => {
      const { sample } = bench
      const { accept, queue } = createSender(bench)
      await accept(queue())
      const dedupe = { scope: 's', key: 'k', until: bench.clock.now() + 60_000 }
      const entries = [1, 2].map(() =>
        sample.entry(sample.runAction({ sessionKey }, { busy: 'reject', dedupe })),
      )
      const [entry, other] = entries
      assert.ok(entry && other)
      const first = await bench.store.accept(entry)
      assert.equal(first.actions[0]?.outcome, 'busy')
      assert.deepEqual(await bench.store.accept(entry), first)
      assert.equal((await bench.store.accept(other)).actions[0]?.outcome, 'duplicate')
      const cancelled = queue()
      const again = sample.entry(cancelled)
      await bench.store.accept(again)
      await bench.store.command({ type: 'cancel', run: idOf(cancelled), at: bench.clock.now() })
      assert.equal((await bench.store.accept(again)).actions[0]?.outcome, 'accepted', 'it was not busy')
    })

    test('a request that can join a waiting run is not busy', async (bench) => {
      const { sample } = bench
      const { accept } = createSender(bench)
      const worker = startManualWorker(bench.store, ['run'])
      const action = () => sample.coalescedAction({}, { sessionKey }, { busy: 'reject' })
      const outcomes = [(await accept(action())).outcome, (await accept(action())).outcome]
      bench.clock.advance(1_000)
      const claim = await worker.next()
      outcomes.push((await accept(action())).outcome)
      claim.done()
      await bench.settled()
      outcomes.push((await accept(action())).outcome)
      assert.deepEqual(outcomes, ['accepted', 'joined', 'busy', 'accepted'])
    })
  })
}

function createSender(bench: ContractContext) {
  const sample = createSampler(bench)
  return {
    queue: () => sample.runAction({ sessionKey }),
    reject: () => sample.runAction({ sessionKey }, { busy: 'reject' }),
    async accept(action: ReturnType<typeof sample.runAction>) {
      const { actions } = await bench.store.accept(sample.entry(action))
      assert.ok(actions[0])
      return actions[0]
    },
  }
}
