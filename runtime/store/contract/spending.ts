/** The contract of spending: the cost of a run is counted with its effects, by day and by budget. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Claim, Effects } from '../port.ts'
import { heartbeatTask } from '../tasks.ts'
import { type ContractSubject, createBench, openBench } from './bench/bench.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler } from './bench/samples.ts'

const today = '2026-01-01'
const nothing = { runs: 0, tokens: 0, reported: false }

export function spendingContract(subject: ContractSubject): void {
  describe(`${subject.name}: spending`, { concurrency: 4, timeout: 30_000 }, () => {
    test('spending is added up, for all runs and for the budget of a run', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      await bench.store.accept(
        sample.entry(sample.runAction({ budget: 'github' }), sample.runAction({ budget: 'stripe' })),
      )
      const worker = startManualWorker(bench.store, ['run'])
      const [github, stripe] = [await worker.next(), await worker.next()]
      assert.deepEqual((await github.load()).spent, { day: today, all: nothing, budget: nothing })
      for (const tokens of [100, 50]) await spend(github, { budget: 'github', runs: 1, tokens })
      await spend(stripe, { runs: 1, tokens: 7 })
      assert.deepEqual((await github.load()).spent, {
        day: today,
        all: { runs: 3, tokens: 157, reported: false },
        budget: { runs: 2, tokens: 150, reported: false },
      })
      assert.deepEqual((await stripe.load()).spent?.budget, nothing)
      assert.deepEqual(await bench.store.read.spent(), {
        day: today,
        all: { runs: 3, tokens: 157, reported: false },
        budgets: { github: { runs: 2, tokens: 150, reported: false } },
      })
    })

    test('however much is spent, the sum can be read', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      await bench.store.accept(sample.entry(sample.runAction({ budget: 'github' })))
      const claim = await startManualWorker(bench.store, ['run']).next()
      const tokens = Number.MAX_SAFE_INTEGER
      for (const _ of [1, 2, 3]) await spend(claim, { budget: 'github', runs: 1, tokens })
      const sum = { runs: 3, tokens, reported: false }
      assert.deepEqual((await claim.load()).spent, { day: today, all: sum, budget: sum })
    })

    test('a budget whose exhaustion was reported stays so, whatever is spent later', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
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

    test('a new day begins at midnight UTC with nothing spent, for heartbeats as for runs', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      await bench.store.accept(sample.entry(sample.runAction({ message: 'the "budget": of others' })))
      await bench.store.command({ type: 'schedule', task: heartbeatTask(bench.clock.now()) })
      const worker = startManualWorker(bench.store, ['run', 'heartbeat'])
      const claims = [await worker.next(), await worker.next()]
      for (const claim of claims) await spend(claim, { runs: 1, tokens: 5 })
      bench.clock.advance(86_399_999)
      for (const claim of claims) {
        assert.deepEqual((await claim.load()).spent, {
          day: today,
          all: { runs: 2, tokens: 10, reported: false },
        })
      }
      bench.clock.advance(1)
      for (const claim of claims) {
        assert.deepEqual((await claim.load()).spent, { day: '2026-01-02', all: nothing })
      }
    })

    test('spending survives the process, and a lost lease or a failed commit spends nothing', async (t) => {
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
      assert.deepEqual((await again.load()).spent?.all, { runs: 2, tokens: 10, reported: false })
    })
  })
}

function spend(claim: Claim, effect: Omit<NonNullable<Effects['spend']>, 'day'>): Promise<void> {
  return claim.checkpoint({ spend: { day: today, ...effect } })
}
