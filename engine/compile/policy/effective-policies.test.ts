import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentAction } from '../../resolve/model/decision.ts'
import { actionOf, type Fixture, type Mapping, requestOf, snapshotOf } from '../fixture.ts'

async function runAt(
  endpoint: string,
  endpoints: Fixture['endpoints'],
  mapping: Partial<Mapping> = {},
  body: unknown = { message: 'x' },
): Promise<AgentAction> {
  const snapshot = snapshotOf([{ message: 'x', ...mapping }], {
    endpoints,
    defaults: { timeoutSeconds: 600 },
  })
  return actionOf(await snapshot.resolve(requestOf(body, { endpoint }))) as AgentAction
}

test('the timeout of a run is the request’s, else its mapping’s, else its endpoint’s, else the default', async () => {
  const endpoints = { ci: { timeoutSeconds: 60 }, agent: { timeoutSeconds: 90 } }
  const secondsAt = async (endpoint: string, mapping?: Partial<Mapping>, body?: unknown) =>
    (await runAt(endpoint, endpoints, mapping, body)).timeoutSeconds
  assert.equal(await secondsAt('other'), 600)
  assert.equal(await secondsAt('ci'), 60)
  assert.equal(await secondsAt('ci', { timeoutSeconds: 30 }), 30)
  assert.equal(await secondsAt('ci', { timeoutSeconds: '{{absent}}' }), 60)
  assert.equal(await secondsAt('agent'), 90)
  assert.equal(await secondsAt('agent', {}, { message: 'x', timeoutSeconds: 5 }), 5)
  assert.equal(await secondsAt('agent', {}, { message: 'x', timeoutSeconds: null }), 90)
})

test('pool and budget are the names of the policies that set them, the more exact first', async () => {
  const endpoints = {
    ':kind/:id': { concurrency: 9, budget: { runs: 9 } },
    'orders/:id': { concurrency: 2 },
    'orders/7': { budget: { tokens: 5 } },
    plain: { maxBodyBytes: 5 },
    agent: { concurrency: 1, budget: { runs: 1 } },
  }
  const namesAt = async (endpoint: string) => {
    const { pool, budget } = await runAt(endpoint, endpoints)
    return [pool, budget]
  }
  assert.deepEqual(await namesAt('orders/7'), ['orders/:id', 'orders/7'])
  assert.deepEqual(await namesAt('orders/8'), ['orders/:id', ':kind/:id'])
  assert.deepEqual(await namesAt('bills/8'), [':kind/:id', ':kind/:id'])
  assert.deepEqual(await namesAt('agent'), ['agent', 'agent'])
  for (const endpoint of ['plain', 'other']) {
    const action = await runAt(endpoint, endpoints)
    assert.ok(!('pool' in action) && !('budget' in action), endpoint)
  }
})

test('a wake has no pool and no budget, because it starts no run', async () => {
  const endpoints = { ci: { concurrency: 1, budget: { runs: 1 }, timeoutSeconds: 5 } }
  const action = await runAt('ci', endpoints, { action: 'wake', text: 'x' })
  assert.deepEqual(
    ['pool', 'budget', 'timeoutSeconds'].filter((name) => name in action),
    [],
  )
})

test('explain names the policy that filled in a field', async () => {
  const endpoints = { 'ci/:job': { concurrency: 2, timeoutSeconds: 60 }, 'ci/a': { budget: { runs: 5 } } }
  const snapshot = snapshotOf([{ message: 'x' }], { endpoints })
  const placesAt = async (endpoint: string) => {
    const { actions } = await snapshot.explain(requestOf({}, { endpoint }))
    return (actions[0]?.fields ?? []).flatMap(({ field, value, sources }) =>
      ['timeoutSeconds', 'pool', 'budget'].includes(field) ? [[field, value, sources[0]?.path]] : [],
    )
  }
  assert.deepEqual(await placesAt('ci/a'), [
    ['timeoutSeconds', '60', 'endpoints["ci/:job"].timeoutSeconds'],
    ['pool', 'ci/:job', 'endpoints["ci/:job"].concurrency'],
    ['budget', 'ci/a', 'endpoints["ci/a"].budget'],
  ])
  assert.deepEqual(await placesAt('other'), [['timeoutSeconds', '600', 'agents.defaults.timeoutSeconds']])
})

test('rates are compiled once, and name the policy that sets them', () => {
  const endpoints = {
    'teams/:team': { rate: { endpoint: '600/1m', client: '10/1s' } },
    'teams/red': { rate: { client: '5/2h' } },
  }
  const snapshot = snapshotOf([{ message: 'x' }], { endpoints })
  const rate = snapshot.effectivePolicyOf('teams/blue')?.rate
  assert.deepEqual(rate, {
    policy: 'teams/:team',
    value: { endpoint: { max: 600, windowMs: 60_000 }, client: { max: 10, windowMs: 1000 } },
  })
  assert.equal(snapshot.effectivePolicyOf('teams/blue')?.rate, rate)
  const exact = { policy: 'teams/red', value: { client: { max: 5, windowMs: 7_200_000 } } }
  assert.deepEqual(snapshot.effectivePolicyOf('teams/red')?.rate, exact)
})
