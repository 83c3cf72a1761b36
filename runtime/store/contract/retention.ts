/**
 * The contract of retention: ended history is deleted when it is old, with costs and what runners store, and open records never are. Idle
 * sessions with a generated key go before, and others stay.
 */

import assert from 'node:assert/strict'
import type { Effects, Id } from '../port.ts'
import { type ContractBench, contractPart } from './bench/bench.ts'
import { idOf, outcomesOf, type Sampler } from './bench/samples.ts'

const hour = 3_600_000
const day = 24 * hour
const keepMs = 7 * day

export const retentionContract = contractPart('retention', (test) => {
  test('ended history is deleted after its time, with its requests, messages and deliveries', async (bench, sample) => {
    const action = sample.runAction({ sessionKey: 'pr:1' })
    const id = idOf(action)
    const entry = sample.entry(action)
    const ignored = sample.request({ outcome: 'ignored', status: 200 })
    const delivery = sample.delivery({ runId: id, state: 'delivered', endedAt: bench.clock.now() })
    await bench.store.accept(entry)
    bench.store.note(ignored)
    ;(await bench.claim('run')).done({
      run: { id, state: 'succeeded', ranAt: bench.clock.now(), deliveryIds: [delivery.id] },
      append: [sample.turn('pr:1')],
      deliveries: [delivery],
    })
    await bench.settled()
    bench.clock.advance(keepMs - 600_000)
    await bench.passes()
    const { read } = bench.store
    assert.ok((await read.run(id)) && (await read.request(ignored.id)) && (await read.session('pr:1')))
    bench.clock.advance(600_000)
    await bench.untilGone(
      async () =>
        (await read.session('pr:1')) ??
        (await read.run(id)) ??
        (await read.delivery(delivery.id)) ??
        (await read.request(entry.request.id)) ??
        (await read.request(ignored.id)),
    )
  })

  test('queued runs, pending events and unsent deliveries stay, and so do their requests', async (bench, sample) => {
    const [done, queued, event] = [sample.runAction(), sample.runAction(), sample.eventAction()]
    const entry = sample.entry(done, queued, event)
    const delivery = sample.delivery({ runId: idOf(done) })
    await bench.store.accept(entry)
    const worker = bench.work(['run'], 1)
    ;(await worker.next()).done({
      run: { id: idOf(done), state: 'succeeded', deliveryIds: [delivery.id] },
      deliveries: [delivery],
      tasks: [sample.deliveryTask(delivery)],
    })
    await worker.next()
    bench.clock.advance(2 * keepMs)
    await bench.passes()
    const { read } = bench.store
    assert.ok(await read.request(entry.request.id))
    assert.ok(await read.run(idOf(done)), 'its delivery still needs it')
    assert.ok((await read.run(idOf(queued))) && (await read.event(idOf(event))))
    assert.ok(await read.delivery(delivery.id))
  })

  test('a dedupe key is known until it expires, even if its run was deleted', async (bench, sample) => {
    const dedupe = { scope: 's', key: 'k', until: bench.clock.now() + 3 * keepMs }
    const entry = sample.entry(sample.runAction({}, { dedupe }))
    const original = entry.actions[0]?.record.id ?? ''
    await bench.store.accept(entry)
    ;(await bench.claim('run')).done({ run: { id: original, state: 'succeeded' } })
    await bench.settled()
    bench.clock.advance(2 * keepMs)
    await bench.untilGone(() => bench.store.read.run(original))
    const seen = { outcome: 'duplicate', original, request: entry.request.id }
    assert.deepEqual((await bench.accept(sample.runAction({}, { dedupe }))).actions, [seen])
    bench.clock.advance(keepMs)
    const later = { ...dedupe, until: bench.clock.now() + 1000 }
    assert.deepEqual(outcomesOf(await bench.accept(sample.runAction({}, { dedupe: later }))), ['accepted'])
  })

  test('a shorter retention time deletes at once, and a longer one keeps what was not deleted yet', async (bench, sample) => {
    const note = async () => {
      const request = sample.request({ outcome: 'ignored', status: 200 })
      bench.store.note(request)
      await bench.settled()
      return () => bench.store.read.request(request.id)
    }
    const old = await note()
    bench.clock.advance(hour)
    const late = await note()
    assert.ok(await old())
    bench.store.configure({ keepMs: hour / 2, backlog: 1_000 })
    await bench.untilGone(old)
    assert.ok(await late())
    bench.store.configure({ keepMs, backlog: 1_000 })
    bench.clock.advance(2 * hour)
    await bench.passes()
    assert.ok(await late())
    bench.clock.advance(keepMs)
    await bench.untilGone(late)
  })

  test('a large amount of old history is deleted in slices, and no call waits for all of it', async (bench, sample) => {
    for (let batch = 0; batch < 20; batch++) {
      for (let i = 0; i < 100; i++) bench.store.note(sample.request({ outcome: 'ignored', status: 200 }))
      await bench.settled()
    }
    bench.clock.advance(2 * keepMs)
    await bench.until(async () => (await bench.store.read.requests({ limit: 500 })).items.length === 0)
  })

  test(
    'a run that others joined is deleted with all of them, and an open one stays joinable',
    { keepMs: hour },
    async (bench, sample) => {
      const [first, second] = [1, 2].map(() =>
        sample.entry(sample.coalescedAction({ key: 'old', keep: 'all' })),
      )
      assert.ok(first && second)
      for (const entry of [first, second]) await bench.store.accept(entry)
      const run = first.actions[0]?.record.id ?? ''
      bench.clock.advance(1_000)
      ;(await bench.claim('run')).done({ run: { id: run, state: 'succeeded' } })
      const wait = { key: 'open', windowMs: 3 * hour, maxWaitMs: 9 * hour }
      await bench.accept(sample.coalescedAction(wait))
      bench.clock.advance(2 * hour)
      await bench.untilGone(() => bench.store.read.run(run))
      await bench.untilGone(() => bench.store.read.request(second.request.id))
      assert.deepEqual(outcomesOf(await bench.accept(sample.coalescedAction(wait))), ['joined'])
    },
  )

  test(
    "a runner's state is deleted when it is old and its session has no turn left",
    { keepMs: day },
    async (bench, sample) => {
      const { effect, turn, load } = await openEffects(bench, sample)
      const state = (session: string) => effect({ runnerState: { session, runner: 'claude', state: 'kept' } })
      for (const session of ['old', 'with-turns']) await state(session)
      bench.clock.advance(day)
      await turn('with-turns')
      await state('young')
      bench.clock.advance(hour)
      await bench.passes()
      const stateOf = async (session: string) => (await load(session)).runnerState
      const states = async () => [await stateOf('old'), await stateOf('with-turns'), await stateOf('young')]
      assert.deepEqual(await states(), [{}, { claude: 'kept' }, { claude: 'kept' }])
      bench.clock.advance(day)
      await bench.passes()
      assert.deepEqual(await states(), [{}, {}, {}])
    },
  )

  test(
    'a summary that is younger than the turns behind it outlives them, and is loaded alone',
    { keepMs: day },
    async (bench, sample) => {
      const { effect, turn, load } = await openEffects(bench, sample)
      const history = async () => (await load('pr:1')).history.map(({ text }) => text)
      const turns: Id[] = []
      for (let number = 0; number < 30; number++) turns.push(await turn('pr:1'))
      bench.clock.advance(12 * hour)
      const summary = sample.turn('pr:1', 'nine turns', 'summary')
      await effect({ compact: { session: 'pr:1', through: turns[9] ?? '', summary } })
      assert.equal((await history()).length, 20)
      bench.clock.advance(13 * hour)
      await bench.passes()
      assert.deepEqual(await history(), ['nine turns'])
      assert.partialDeepStrictEqual(await bench.store.read.sessions(), { items: [{ key: 'pr:1', turns: 1 }] })
      bench.clock.advance(day)
      await bench.passes()
      assert.deepEqual([await history(), await bench.store.read.sessions()], [[], { items: [] }])
    },
  )

  test(
    'old days lose the names of their sessions and keep their sums; those of more than a year ago go',
    { keepMs: 10 * day },
    async (bench, sample) => {
      const { effect } = await openEffects(bench, sample)
      const of = { mapping: 'review', model: 'm' }
      const spend = async () => {
        const today = new Date(bench.clock.now()).toISOString().slice(0, 10)
        for (const session of ['a', 'b', undefined]) {
          const labels = { ...of, ...(session && { session }) }
          await effect({ spend: { day: today, runs: 1, tokens: 2, usd: 0.5, labels } })
        }
        return today
      }
      const costs = async (by: 'day' | 'session') => (await bench.store.read.costs({ by })).items
      const sum = { runs: 3, tokens: 6, usd: 1.5, unpriced: 0 }
      await spend()
      bench.clock.advance(380 * day)
      await bench.passes()
      const second = await spend()
      bench.clock.advance(29 * day)
      const third = await spend()
      await bench.passes()
      assert.deepEqual(await costs('day'), [
        { name: third, ...sum },
        { name: second, ...sum },
      ])
      assert.partialDeepStrictEqual(await costs('session'), [
        { name: '', usd: 2 },
        { name: 'a', usd: 0.5 },
        { name: 'b', usd: 0.5 },
      ])
    },
  )

  test(
    'an idle session with a generated key is deleted whole, unless it has an open run',
    { sessionIdleMs: hour },
    async (bench, sample) => {
      const { effect, turn, load } = await openEffects(bench, sample)
      const [idle = '', busy = '', followed = ''] = [1, 2, 3].map(() => `hook:${bench.mintId()}`)
      const { read } = bench.store
      for (const key of ['pr:1', 'hook:no-id', idle, busy, followed]) {
        // More than are deleted at one time.
        await turn(key, key === idle ? 350 : 3)
        await effect({ runnerState: { session: key, runner: 'claude', state: 'kept' } })
      }
      await bench.accept(sample.runAction({ sessionKey: followed }))
      bench.clock.advance(hour / 2)
      await turn(busy)
      bench.clock.advance(hour / 2)
      await bench.settled()
      assert.ok(await read.session(idle))
      bench.clock.advance(60_000)
      await bench.untilGone(() => read.session(idle))
      assert.ok(await read.session(followed))
      const worker = bench.work(['run'])
      const claim = await worker.next()
      assert.deepEqual((await claim.load()).runnerState, { claude: 'kept' })
      claim.done()
      await worker.drain(1_000)
      await bench.untilGone(() => read.session(followed))
      assert.deepEqual((await load(idle)).runnerState, {})
      const kept = (await read.sessions()).items.map(({ key, turns }) => [key, turns])
      assert.deepEqual(
        kept.toSorted(),
        [
          [busy, 4],
          ['hook:no-id', 3],
          ['pr:1', 3],
        ].toSorted(),
      )
    },
  )

  test(
    'a changed idle time holds at once, and without one such a session stays as long as others',
    { sessionIdleMs: hour },
    async (bench, sample) => {
      const { turn } = await openEffects(bench, sample)
      const [first = '', second = ''] = [1, 2].map(() => `hook:${bench.mintId()}`)
      const limits = { keepMs, backlog: 1_000 }
      await turn(first)
      await bench.settled()
      for (const [changed, ms] of [
        [{ sessionIdleMs: 48 * hour }, 4 * hour],
        [{}, 49 * hour],
      ] as const) {
        bench.store.configure({ ...limits, ...changed })
        bench.clock.advance(ms)
        await bench.passes()
        assert.ok(await bench.store.read.session(first))
      }
      await turn(second)
      bench.store.configure({ ...limits, sessionIdleMs: 2 * hour })
      await bench.untilGone(() => bench.store.read.session(first))
      assert.ok(await bench.store.read.session(second))
    },
  )
})

/** Returns what writes effects by the checkpoints of a claim. */
async function openEffects(bench: ContractBench, sample: Sampler) {
  const task = { key: 'k', kind: 'heartbeat', dueAt: bench.clock.now() } as const
  await bench.store.command({ type: 'schedule', task })
  const claim = await bench.claim('heartbeat')
  const effect = (effects: Effects) => claim.checkpoint(effects)
  return {
    effect,
    /** Appends turns to a session. Returns the last one. */
    async turn(session: string, count = 1): Promise<Id> {
      const append = Array.from({ length: count }, () => sample.turn(session))
      await effect({ append })
      return append.at(-1)?.turn ?? ''
    },
    /** Returns the work given to the session's next run. */
    async load(sessionKey: string) {
      await bench.accept(sample.runAction({ sessionKey }))
      const worker = bench.work(['run'])
      const given = await worker.next()
      const work = await given.load()
      given.done()
      await worker.drain(1_000)
      return work
    },
  }
}
