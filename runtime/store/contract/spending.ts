/** The contract of spending: the cost of a run is counted with its effects, by day and by budget. */

import assert from 'node:assert/strict'
import type { Claim, Effects } from '../port.ts'
import { contractPart } from './bench/bench.ts'
import { allOf } from './bench/samples.ts'

const today = '2026-01-01'
const nothing = { runs: 0, tokens: 0, usd: 0, reported: false }

export const spendingContract = contractPart('spending', (test) => {
  test('spending is added up, for all runs and for the budget of a run', async (bench, sample) => {
    await bench.accept(sample.runAction({ budget: 'github' }), sample.runAction({ budget: 'billing' }))
    const worker = bench.work(['run'])
    const [github, billing] = [await worker.next(), await worker.next()]
    assert.deepEqual((await github.load()).spent, { day: today, all: nothing, budget: nothing })
    for (const tokens of [100, 50]) await spend(github, { budget: 'github', runs: 1, tokens })
    await spend(billing, { runs: 1, tokens: 7 })
    const [all, budget] = [
      { ...nothing, runs: 3, tokens: 157 },
      { ...nothing, runs: 2, tokens: 150 },
    ]
    assert.deepEqual((await github.load()).spent, { day: today, all, budget })
    assert.deepEqual((await billing.load()).spent?.budget, nothing)
    assert.deepEqual(await bench.store.read.spent(), { day: today, all, budgets: { github: budget } })
  })

  test('however much is spent, the sum can be read', async (bench, sample) => {
    await bench.accept(sample.runAction({ budget: 'github' }))
    const claim = await bench.claim('run')
    const tokens = Number.MAX_SAFE_INTEGER
    for (const _ of [1, 2, 3]) await spend(claim, { budget: 'github', runs: 1, tokens })
    const sum = { runs: 3, tokens, usd: 0, reported: false }
    assert.deepEqual((await claim.load()).spent, { day: today, all: sum, budget: sum })
  })

  test('a budget whose exhaustion was reported stays so, whatever is spent later', async (bench, sample) => {
    await bench.accept(sample.runAction({ budget: 'github' }))
    const claim = await bench.claim('run')
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

  test('a new day begins at midnight UTC with nothing spent, for heartbeats as for runs', async (bench, sample) => {
    await bench.accept(sample.runAction({ message: 'the "budget": of others' }))
    await bench.scheduleHeartbeat()
    const worker = bench.work(['run', 'heartbeat'])
    const claims = [await worker.next(), await worker.next()]
    for (const claim of claims) await spend(claim, { runs: 1, tokens: 5 })
    bench.clock.advance(86_399_999)
    const all = { ...nothing, runs: 2, tokens: 10 }
    for (const claim of claims) assert.deepEqual((await claim.load()).spent, { day: today, all })
    bench.clock.advance(1)
    for (const claim of claims)
      assert.deepEqual((await claim.load()).spent, { day: '2026-01-02', all: nothing })
  })

  test('money is added up to a millionth of a dollar, and listed by day, mapping, model and session', async (bench, sample) => {
    await bench.accept(sample.runAction({ budget: 'github' }))
    const claim = await bench.claim('run')
    const labels = { mapping: 'review', model: 'openai/gpt-5', session: 'hook:pr:7' }
    for (const _ of [1, 2, 3])
      await spend(claim, { budget: 'github', runs: 1, tokens: 10, usd: 0.000_001, labels })
    const priced = { mapping: 'triage', model: 'openai/gpt-5' }
    await spend(claim, { runs: 1, tokens: 5, usd: 0.2, labels: priced })
    await spend(claim, { runs: 1, tokens: 7, labels: { mapping: 'triage' } })
    const { read } = bench.store
    const { all, budgets } = await read.spent()
    assert.deepEqual([all.usd, budgets['github']?.usd], [0.200_003, 0.000_003])
    const review = { runs: 3, tokens: 30, usd: 0.000_003, unpriced: 0 }
    const triage = { runs: 2, tokens: 12, usd: 0.2, unpriced: 1 }
    const sum = { name: today, runs: 5, tokens: 42, usd: 0.200_003, unpriced: 1 }
    assert.deepEqual(await read.costs({ by: 'day' }), { items: [sum] })
    assert.deepEqual((await read.costs({ by: 'mapping' })).items, [
      { name: 'triage', ...triage },
      { name: 'review', ...review },
    ])
    const models = (await read.costs({ by: 'model' })).items.map(({ name, runs }) => `${name}: ${runs}`)
    assert.deepEqual(models, ['openai/gpt-5: 4', ': 1'])
    assert.deepEqual(await allOf((page) => read.costs({ by: 'session', ...page }), 1), [
      { name: '', ...triage },
      { name: 'hook:pr:7', ...review },
    ])
    assert.deepEqual((await read.costs({ by: 'day', since: '2026-01-02' })).items, [])
    await assert.rejects(read.costs({ by: 'day', cursor: 'x' }), { code: 'BAD_CURSOR' })
  })

  test('runs are counted by whether they wait, are under way or are parked', async (bench, sample) => {
    await bench.accept(sample.runAction(), sample.runAction(), sample.runAction())
    const worker = bench.work(['run'])
    const [first, second] = [await worker.next(), await worker.next()]
    const { read } = bench.store
    assert.deepEqual(await read.openRuns(), { queued: 3, running: 0, parked: 0 })
    const id = second.task.subject as string
    await second.checkpoint({ run: { id, state: 'running' } })
    const error = { code: 'BUDGET', message: 'spent', retryable: true }
    first.done({ run: { id: first.task.subject as string, state: 'parked', error } })
    while ((await read.openRuns()).parked === 0) assert.equal(worker.faults.length, 0)
    assert.deepEqual(await read.openRuns(), { queued: 1, running: 1, parked: 1 })
  })

  test('spending survives the process, and a lost lease or a failed commit spends nothing', async (bench, sample) => {
    await bench.accept(sample.runAction())
    const worker = bench.work(['run'])
    const claim = await worker.next()
    await spend(claim, { runs: 1, tokens: 5 })
    await bench.fault('commit-fails')
    await assert.rejects(spend(claim, { runs: 1, tokens: 5 }), { code: 'STORE_UNAVAILABLE' })
    await bench.fault('answer-lost')
    await spend(claim, { runs: 1, tokens: 5 })
    await worker.drain(0)
    await assert.rejects(spend(claim, { runs: 1, tokens: 5 }), { code: 'LEASE_LOST' })
    await bench.open()
    const { spent } = await (await bench.claim('run')).load()
    assert.deepEqual(spent?.all, { ...nothing, runs: 2, tokens: 10 })
  })
})

function spend(claim: Claim, effect: Omit<NonNullable<Effects['spend']>, 'day'>): Promise<void> {
  return claim.checkpoint({ spend: { day: today, ...effect } })
}
