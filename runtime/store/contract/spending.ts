/** The contract of spending: the cost of a run is counted with its effects, by day and by budget. */

import assert from 'node:assert/strict'
import { describe, test as single } from 'node:test'
import type { Claim, Effects } from '../port.ts'
import { heartbeatTask } from '../task-keys.ts'
import { type ContractSubject, createBench } from './bench/bench.ts'
import { testsOf } from './bench/contract-test.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler } from './bench/samples.ts'

const today = '2026-01-01'
const nothing = { runs: 0, tokens: 0, usd: 0, reported: false }

export function spendingContract(subject: ContractSubject): void {
  describe(`${subject.name}: spending`, { concurrency: 4, timeout: 30_000 }, () => {
    const test = testsOf(subject)

    test('spending is added up, for all runs and for the budget of a run', async (bench) => {
      const { sample } = bench
      await bench.store.accept(
        sample.entry(sample.runAction({ budget: 'github' }), sample.runAction({ budget: 'billing' })),
      )
      const worker = startManualWorker(bench.store, ['run'])
      const [github, billing] = [await worker.next(), await worker.next()]
      assert.deepEqual((await github.load()).spent, { day: today, all: nothing, budget: nothing })
      for (const tokens of [100, 50]) await spend(github, { budget: 'github', runs: 1, tokens })
      await spend(billing, { runs: 1, tokens: 7 })
      assert.deepEqual((await github.load()).spent, {
        day: today,
        all: { runs: 3, tokens: 157, usd: 0, reported: false },
        budget: { runs: 2, tokens: 150, usd: 0, reported: false },
      })
      assert.deepEqual((await billing.load()).spent?.budget, nothing)
      assert.deepEqual(await bench.store.read.spent(), {
        day: today,
        all: { runs: 3, tokens: 157, usd: 0, reported: false },
        budgets: { github: { runs: 2, tokens: 150, usd: 0, reported: false } },
      })
    })

    test('however much is spent, the sum can be read', async (bench) => {
      const { sample } = bench
      await bench.store.accept(sample.entry(sample.runAction({ budget: 'github' })))
      const claim = await startManualWorker(bench.store, ['run']).next()
      const tokens = Number.MAX_SAFE_INTEGER
      for (const _ of [1, 2, 3]) await spend(claim, { budget: 'github', runs: 1, tokens })
      const sum = { runs: 3, tokens, usd: 0, reported: false }
      assert.deepEqual((await claim.load()).spent, { day: today, all: sum, budget: sum })
    })

    test('a budget whose exhaustion was reported stays so, whatever is spent later', async (bench) => {
      const { sample } = bench
      await bench.store.accept(sample.entry(sample.runAction({ budget: 'github' })))
      const claim = await startManualWorker(bench.store, ['run']).next()
      const reported = async () => {
        const { spent } = await claim.load()
        return [spent?.all.reported, spent?.budget?.reported]
      }
      await spend(claim, { budget: 'github', runs: 0, tokens: 0, reported: ['budget'] })
      assert.deepEqual(await reported(), [false, true])
      await spend(claim, { budget: 'github', runs: 1, tokens: 1, reported: ['all'] })
      await spend(claim, { budget: 'github', runs: 1, tokens: 1 })
      assert.deepEqual(await reported(), [true, true])
    })

    test('a new day begins at midnight UTC with nothing spent, for heartbeats as for runs', async (bench) => {
      const { sample } = bench
      await bench.store.accept(sample.entry(sample.runAction({ message: 'the "budget": of others' })))
      await bench.store.command({ type: 'schedule', task: heartbeatTask(bench.clock.now()) })
      const worker = startManualWorker(bench.store, ['run', 'heartbeat'])
      const claims = [await worker.next(), await worker.next()]
      for (const claim of claims) await spend(claim, { runs: 1, tokens: 5 })
      bench.clock.advance(86_399_999)
      for (const claim of claims) {
        assert.deepEqual((await claim.load()).spent, {
          day: today,
          all: { runs: 2, tokens: 10, usd: 0, reported: false },
        })
      }
      bench.clock.advance(1)
      for (const claim of claims) {
        assert.deepEqual((await claim.load()).spent, { day: '2026-01-02', all: nothing })
      }
    })

    test('money is added up to a millionth of a dollar, and listed by day, mapping, model and session', async (bench) => {
      const { sample } = bench
      await bench.store.accept(sample.entry(sample.runAction({ budget: 'github' })))
      const claim = await startManualWorker(bench.store, ['run']).next()
      const labels = { mapping: 'review', model: 'openai/gpt-5', session: 'hook:pr:7' }
      for (const _ of [1, 2, 3])
        await spend(claim, { budget: 'github', runs: 1, tokens: 10, usd: 0.000_001, labels })
      await spend(claim, {
        runs: 1,
        tokens: 5,
        usd: 0.2,
        labels: { mapping: 'triage', model: 'openai/gpt-5' },
      })
      await spend(claim, { runs: 1, tokens: 7, labels: { mapping: 'triage' } })
      const { read } = bench.store
      const { all, budgets } = await read.spent()
      assert.deepEqual([all.usd, budgets['github']?.usd], [0.200_003, 0.000_003])
      const review = { runs: 3, tokens: 30, usd: 0.000_003, unpriced: 0 }
      const triage = { runs: 2, tokens: 12, usd: 0.2, unpriced: 1 }
      assert.deepEqual((await read.costs({ by: 'day' })).items, [
        { name: today, runs: 5, tokens: 42, usd: 0.200_003, unpriced: 1 },
      ])
      assert.deepEqual((await read.costs({ by: 'mapping' })).items, [
        { name: 'triage', ...triage },
        { name: 'review', ...review },
      ])
      assert.deepEqual(
        (await read.costs({ by: 'model' })).items.map(({ name, runs }) => [name, runs]),
        [
          ['openai/gpt-5', 4],
          ['', 1],
        ],
      )
      const sessions = await read.costs({ by: 'session', limit: 1 })
      assert.deepEqual(sessions.items, [{ name: '', ...triage }])
      const rest = await read.costs({ by: 'session', limit: 1, cursor: sessions.next ?? '' })
      assert.deepEqual([rest.items, rest.next], [[{ name: 'hook:pr:7', ...review }], undefined])
      assert.deepEqual((await read.costs({ by: 'day', since: '2026-01-02' })).items, [])
      await assert.rejects(read.costs({ by: 'day', cursor: 'x' }), { code: 'BAD_CURSOR' })
    })

    test('runs are counted by whether they wait, are under way or are parked', async (bench) => {
      const { sample } = bench
      const actions = [sample.runAction(), sample.runAction(), sample.runAction()]
      await bench.store.accept(sample.entry(...actions))
      const worker = startManualWorker(bench.store, ['run'])
      const [first, second] = [await worker.next(), await worker.next()]
      const { read } = bench.store
      assert.deepEqual(await read.openRuns(), { queued: 3, running: 0, parked: 0 })
      const id = second.task.subject as string
      await second.checkpoint({ run: { id, state: 'running' } })
      const error = { code: 'BUDGET', message: 'spent', retryable: true }
      first.settle({
        done: true,
        effects: { run: { id: first.task.subject as string, state: 'parked', error } },
      })
      while ((await read.openRuns()).parked === 0) assert.equal(worker.faults.length, 0)
      assert.deepEqual(await read.openRuns(), { queued: 1, running: 1, parked: 1 })
    })

    single('spending survives the process, and a lost lease or a failed commit spends nothing', async (t) => {
      const bench = await createBench(t, subject)
      const store = await bench.open()
      const sample = createSampler(bench)
      await store.accept(sample.entry(sample.runAction()))
      const worker = startManualWorker(store, ['run'])
      const claim = await worker.next()
      await spend(claim, { runs: 1, tokens: 5 })
      await bench.fault('commit-fails')
      await assert.rejects(spend(claim, { runs: 1, tokens: 5 }), { code: 'STORE_UNAVAILABLE' })
      await bench.fault('answer-lost')
      await spend(claim, { runs: 1, tokens: 5 })
      await worker.drain(0)
      await assert.rejects(spend(claim, { runs: 1, tokens: 5 }), { code: 'LEASE_LOST' })
      const again = await startManualWorker(await bench.open(), ['run']).next()
      assert.deepEqual((await again.load()).spent?.all, { runs: 2, tokens: 10, usd: 0, reported: false })
    })
  })
}

function spend(claim: Claim, effect: Omit<NonNullable<Effects['spend']>, 'day'>): Promise<void> {
  return claim.checkpoint({ spend: { day: today, ...effect } })
}
