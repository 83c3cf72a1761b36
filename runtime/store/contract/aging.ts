/** The contract of what is kept beside records: costs, sessions and what runners store with them go with other history. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Effects, Id, StoreOptions } from '../port.ts'
import { type ContractContext, type ContractSubject, openBench } from './bench/bench.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler } from './bench/samples.ts'

const hour = 3_600_000
const day = 24 * hour

export function agingContract(subject: ContractSubject): void {
  describe(`${subject.name}: aging`, { concurrency: 4, timeout: 30_000 }, () => {
    test('a run that others joined is deleted with all of them, and one that is open stays joinable', async (t) => {
      const bench = await openBench(t, subject, { keepMs: hour })
      const sample = createSampler(bench)
      const joined = () => sample.entry(sample.coalescedAction({ key: 'old', keep: 'all' }))
      const [first, second] = [joined(), joined()]
      await bench.store.accept(first)
      await bench.store.accept(second)
      const run = first.actions[0]?.record.id ?? ''
      const worker = startManualWorker(bench.store, ['run'])
      bench.clock.advance(1_000)
      const claim = await worker.next()
      claim.settle({ done: true, effects: { run: { id: run, state: 'succeeded' } } })
      const wait = { key: 'open', windowMs: 3 * hour, maxWaitMs: 9 * hour }
      const open = sample.entry(sample.coalescedAction(wait))
      await bench.store.accept(open)
      bench.clock.advance(2 * hour)
      await untilGone(bench, () => bench.store.read.run(run))
      await untilGone(bench, () => bench.store.read.request(second.request.id))
      const again = await bench.store.accept(sample.entry(sample.coalescedAction(wait)))
      assert.equal(again.actions[0]?.outcome, 'joined')
    })

    test("a runner's state is deleted when it is old and its session has no turn left", async (t) => {
      const { bench, effect, turn, stateOf } = await openEffects(t, { keepMs: day })
      const state = (session: string) => effect({ runnerState: { session, runner: 'claude', state: 'kept' } })
      for (const session of ['old', 'with-turns']) await state(session)
      bench.clock.advance(day)
      await turn('with-turns')
      await state('young')
      bench.clock.advance(hour)
      await pass(bench)
      const states = async () => [await stateOf('old'), await stateOf('with-turns'), await stateOf('young')]
      assert.deepEqual(await states(), [{}, { claude: 'kept' }, { claude: 'kept' }])
      bench.clock.advance(day)
      await pass(bench)
      assert.deepEqual(await states(), [{}, {}, {}])
    })

    test('a summary that is younger than the turns behind it stays when they are deleted, and is loaded alone', async (t) => {
      const { bench, effect, turn, historyOf } = await openEffects(t, { keepMs: day })
      const turns: Id[] = []
      for (let number = 0; number < 30; number++) turns.push(await turn('pr:1'))
      bench.clock.advance(12 * hour)
      const id = bench.mintId()
      const summary = {
        turn: id,
        messages: [{ role: 'summary' as const, text: 'nine turns', at: bench.clock.now(), turn: id }],
      }
      await effect({ compact: { session: 'pr:1', through: turns[9] ?? '', summary } })
      assert.equal((await historyOf('pr:1')).length, 20)
      bench.clock.advance(13 * hour)
      await pass(bench)
      assert.deepEqual(await historyOf('pr:1'), ['nine turns'])
      const { items } = await bench.store.read.sessions()
      assert.deepEqual(
        items.map(({ key, turns }) => [key, turns]),
        [['pr:1', 1]],
      )
      bench.clock.advance(day)
      await pass(bench)
      assert.deepEqual([await historyOf('pr:1'), await bench.store.read.sessions()], [[], { items: [] }])
    })

    test('old days lose the names of their sessions and keep their sums; days of more than a year ago go', async (t) => {
      const { bench, effect } = await openEffects(t, { keepMs: 10 * day })
      const of = { mapping: 'review', model: 'm' }
      const spend = async () => {
        const today = new Date(bench.clock.now()).toISOString().slice(0, 10)
        for (const session of ['a', 'b', undefined])
          await effect({
            spend: {
              day: today,
              runs: 1,
              tokens: 2,
              usd: 0.5,
              labels: { ...of, ...(session && { session }) },
            },
          })
        return today
      }
      const costs = async (by: 'day' | 'session') => (await bench.store.read.costs({ by })).items
      const sum = { runs: 3, tokens: 6, usd: 1.5, unpriced: 0 }
      await spend()
      bench.clock.advance(380 * day)
      await pass(bench)
      const [second] = [await spend()]
      bench.clock.advance(29 * day)
      const third = await spend()
      await pass(bench)
      assert.deepEqual(await costs('day'), [
        { name: third, ...sum },
        { name: second, ...sum },
      ])
      assert.deepEqual(
        (await costs('session')).map(({ name, usd }) => [name, usd]),
        [
          ['', 2],
          ['a', 0.5],
          ['b', 0.5],
        ],
      )
    })

    /** Opens a store with a claim whose checkpoints write effects. */
    async function openEffects(t: TestContext, options: Partial<StoreOptions>) {
      const bench = await openBench(t, subject, options)
      const sample = createSampler(bench)
      const task = { key: 'k', kind: 'heartbeat', dueAt: bench.clock.now() } as const
      await bench.store.command({ type: 'schedule', task })
      const claim = await startManualWorker(bench.store, ['heartbeat']).next()
      const effect = (effects: Effects) => claim.checkpoint(effects)
      const turn = async (session: string) => {
        const id: Id = bench.mintId()
        const messages = [{ role: 'user' as const, text: 'hi', at: bench.clock.now(), turn: id }]
        await effect({ append: [{ session, turn: id, messages }] })
        return id
      }
      /** Returns the work given to the session's next run. */
      const loaded = async (sessionKey: string) => {
        await bench.store.accept(sample.entry(sample.runAction({ sessionKey })))
        const worker = startManualWorker(bench.store, ['run'])
        const given = await worker.next()
        const work = await given.load()
        given.done()
        await worker.drain(1_000)
        return work
      }
      const stateOf = async (session: string) => (await loaded(session)).runnerState
      const historyOf = async (session: string) => (await loaded(session)).history.map(({ text }) => text)
      return { bench, effect, turn, stateOf, historyOf }
    }
  })
}

/** Moves the clock far enough for two passes, each of as many slices as the machine needs. */
async function pass(bench: ContractContext): Promise<void> {
  for (let slice = 0; slice < 80; slice++) {
    await bench.settled()
    bench.clock.advance(slice === 40 ? 60_000 : 20)
  }
}

async function untilGone(bench: ContractContext, read: () => Promise<unknown>): Promise<void> {
  for (let slice = 1; slice <= 100; slice++) {
    await bench.settled()
    if ((await read()) === undefined) return
    bench.clock.advance(slice % 20 === 0 ? 60_000 : 20)
  }
  assert.fail('it is still there')
}
