/** The contract of `busy: 'reject'`: a run that meets an open run of its session is recorded as cancelled, and not performed. */

import assert from 'node:assert/strict'
import type { NewAction } from '../port.ts'
import { type ContractBench, contractPart } from './bench/bench.ts'
import { idOf, outcomesOf, type Sampler } from './bench/samples.ts'

const sessionKey = 'pr:1'

export const busyContract = contractPart('busy sessions', (test) => {
  test('a run that meets another one of its session ends as cancelled, with nothing to do', async (bench, sample) => {
    const { accept, reject } = createSender(bench, sample)
    assert.equal(await accept(reject()), 'accepted')
    const action = reject()
    assert.deepEqual((await bench.accept(action)).actions, [{ outcome: 'busy', id: idOf(action) }])
    assert.equal(bench.store.health().backlog, 1)
    const message = 'another run of its session is queued or under way'
    const cancelled = { state: 'cancelled', stage: 'cancelled', cancelledAt: bench.clock.now() }
    const error = { code: 'BUSY', message, retryable: true }
    const run = await bench.store.read.run(idOf(action))
    assert.deepEqual(run, { ...action.record, ...cancelled, error })
    const worker = bench.work(['run'])
    ;(await worker.next()).done()
    await worker.idle()
  })

  test('a session is busy while its run is performed or waits for its next try, and free after', async (bench, sample) => {
    const { accept, queue, reject } = createSender(bench, sample)
    const worker = bench.work(['run'])
    await accept(queue())
    const claim = await worker.next()
    assert.equal(await accept(reject()), 'busy')
    claim.again(bench.clock.now() + 60_000)
    await bench.settled()
    assert.equal(await accept(reject()), 'busy')
    assert.equal(await accept(queue()), 'accepted', 'who does not mind is queued')
    bench.clock.advance(60_000)
    for (let time = 0; time < 2; time++) (await worker.next()).done()
    await bench.settled()
    assert.equal(await accept(reject()), 'accepted')
  })

  test('of two in one batch the second is busy, and so is the second of one request', async (bench, sample) => {
    const { accept, reject } = createSender(bench, sample)
    assert.deepEqual(await Promise.all([reject(), reject()].map(accept)), ['accepted', 'busy'])
    const other = () => sample.runAction({ sessionKey: 'pr:2' }, { busy: 'reject' })
    const entry = sample.entry(other(), other(), sample.eventAction())
    assert.deepEqual(outcomesOf(await bench.store.accept(entry)), ['accepted', 'busy', 'accepted'])
    assert.deepEqual(await bench.store.read.request(entry.request.id), entry.request)
  })

  test('a run in the session that another run began meets that run', async (bench, sample) => {
    const { accept } = createSender(bench, sample)
    const first = sample.runAction({}, { busy: 'reject' })
    assert.equal(await accept(first), 'accepted')
    const follow = () => sample.runAction({ sessionKey: `hook:${idOf(first)}` }, { busy: 'reject' })
    assert.equal(await accept(follow()), 'busy')
    const worker = bench.work(['run'])
    const claim = await worker.next()
    assert.equal(await accept(follow()), 'busy')
    claim.done()
    await bench.settled()
    const later = follow()
    assert.equal(await accept(later), 'accepted')
    assert.equal((await worker.next()).task.subject, idOf(later))
  })

  test('a busy entry is answered alike when it is sent again, and a duplicate of it names it', async (bench, sample) => {
    const { accept, queue } = createSender(bench, sample)
    await accept(queue())
    const dedupe = { scope: 's', key: 'k', until: bench.clock.now() + 60_000 }
    const action = () => sample.runAction({ sessionKey }, { busy: 'reject', dedupe })
    const entry = sample.entry(action())
    const first = await bench.store.accept(entry)
    assert.deepEqual(outcomesOf(first), ['busy'])
    assert.deepEqual(await bench.store.accept(entry), first)
    assert.equal(await accept(action()), 'duplicate')
    const cancelled = queue()
    const again = sample.entry(cancelled)
    await bench.store.accept(again)
    await bench.store.command({ type: 'cancel', run: idOf(cancelled), at: bench.clock.now() })
    assert.deepEqual(outcomesOf(await bench.store.accept(again)), ['accepted'], 'it was not busy')
  })

  test('a request that can join a waiting run is not busy', async (bench, sample) => {
    const { accept } = createSender(bench, sample)
    const worker = bench.work(['run'])
    const action = () => sample.coalescedAction({}, { sessionKey }, { busy: 'reject' })
    const outcomes = [await accept(action()), await accept(action())]
    bench.clock.advance(1_000)
    const claim = await worker.next()
    outcomes.push(await accept(action()))
    claim.done()
    await bench.settled()
    outcomes.push(await accept(action()))
    assert.deepEqual(outcomes, ['accepted', 'joined', 'busy', 'accepted'])
  })
})

function createSender(bench: ContractBench, sample: Sampler) {
  return {
    queue: () => sample.runAction({ sessionKey }),
    reject: () => sample.runAction({ sessionKey }, { busy: 'reject' }),
    accept: async (action: NewAction) => outcomesOf(await bench.accept(action))[0],
  }
}
