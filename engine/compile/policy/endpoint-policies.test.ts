import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDecisions } from '../decision-fixture.ts'
import { requestOf, snapshotOf } from '../fixture.ts'

testDecisions(
  `
# the timeout of a run is the request’s, else its mapping’s, else its endpoint’s, else the default @ { defaults: { timeoutSeconds: 600 }, endpoints: { ci: { timeoutSeconds: 60 }, agent: { timeoutSeconds: 90 } } }
{} @ { endpoint: other } ⇒ { timeoutSeconds: 600, explain: { timeoutSeconds: 'default: 600' } }
{} @ { endpoint: ci } ⇒ { timeoutSeconds: 60 }
{ timeoutSeconds: 30 } ⇒ {} @ { endpoint: ci } ⇒ { timeoutSeconds: 30 }
{ timeoutSeconds: '{{absent}}' } ⇒ {} @ { endpoint: ci } ⇒ { timeoutSeconds: 60 }
{ message: x } @ { endpoint: agent } ⇒ { timeoutSeconds: 90 }
{ message: x, timeoutSeconds: 5 } @ { endpoint: agent } ⇒ { timeoutSeconds: 5 }
{ message: x, timeoutSeconds: null } @ { endpoint: agent } ⇒ { timeoutSeconds: 90 }

# pool and budget are the names of the policies that set them, the more exact first, and a wake has neither @ { endpoints: { ':kind/:id': { concurrency: 9, budget: { runs: 9 } }, 'orders/:id': { concurrency: 2 }, orders/7: { budget: { tokens: 5 } }, plain: { maxBodyBytes: 5 }, agent: { concurrency: 1, budget: { runs: 1 }, timeoutSeconds: 5 } } }
{} @ { endpoint: orders/7 } ⇒ { pool: 'orders/:id', budget: orders/7 }
{} @ { endpoint: orders/8 } ⇒ { pool: 'orders/:id', budget: ':kind/:id' }
{} @ { endpoint: bills/8 } ⇒ { pool: ':kind/:id', budget: ':kind/:id' }
{ message: x } @ { endpoint: agent } ⇒ { pool: agent, budget: agent }
{} @ { endpoint: plain } ¦ {} @ { endpoint: other } ⇒ { pool: null, budget: null }
{ action: wake, text: x } ⇒ {} @ { endpoint: bills/8 } ⇒ { kind: wake, pool: null, budget: null, timeoutSeconds: null }
`,
  { message: 'x' },
)

test('explain names the policy that filled in a field', async () => {
  const endpoints = { 'ci/:job': { concurrency: 2, timeoutSeconds: 60 }, 'ci/a': { budget: { runs: 5 } } }
  const snapshot = await snapshotOf([{ message: 'x' }], { endpoints })
  const { actions } = await snapshot.explain(requestOf({}, { endpoint: 'ci/a' }))
  const fields = (actions[0]?.fields ?? []).map(
    ({ field, value, sources }) => `${field} ${value} ${sources[0]?.path}`,
  )
  const ofJob = [
    'timeoutSeconds 60 endpoints["ci/:job"].timeoutSeconds',
    'pool ci/:job endpoints["ci/:job"].concurrency',
  ]
  for (const field of [...ofJob, 'budget ci/a endpoints["ci/a"].budget'])
    assert.ok(fields.includes(field), field)
})

test('rates are compiled once, and name the policy that sets them', async () => {
  const endpoints = {
    'teams/:team': { rate: { endpoint: '600/1m', client: '10/1s' } },
    'teams/red': { rate: { client: '5/2h' } },
  }
  const snapshot = await snapshotOf([{ message: 'x' }], { endpoints })
  const rate = snapshot.effectivePolicyOf('teams/blue')?.rate
  const value = { endpoint: { max: 600, windowMs: 60_000 }, client: { max: 10, windowMs: 1000 } }
  assert.deepEqual(rate, { policy: 'teams/:team', value })
  assert.equal(snapshot.effectivePolicyOf('teams/blue')?.rate, rate)
  const exact = { policy: 'teams/red', value: { client: { max: 5, windowMs: 7_200_000 } } }
  assert.deepEqual(snapshot.effectivePolicyOf('teams/red')?.rate, exact)
})

test('a policy applies to the endpoints that its name covers, the more exact key by key, and to a built-in one by its own name', async () => {
  const sizes = { ':kind/7': 1, 'orders/7': 3, 'orders/:id': 2, ':any': 4, agent: 5 }
  const policies = Object.entries(sizes).map(([name, maxBodyBytes]) => [name, { maxBodyBytes }])
  const endpoints = { ...Object.fromEntries(policies), 'orders/8': {} }
  const { policyOf, covers } = await snapshotOf([], { endpoints })
  const limits = (...names: string[]) => names.map((name) => policyOf(name)?.maxBodyBytes)
  assert.deepEqual(limits('orders/7', 'orders/8', 'orders/9', 'bills/7'), [3, 2, 2, 1])
  assert.deepEqual(limits('orders', 'wake', 'agent'), [4, undefined, 5])
  for (const name of ['orders/', 'orders/7/8', 'Orders/9', '__proto__/a', 'wake']) {
    assert.equal(policyOf(name), undefined, name)
    assert.equal(covers(name), name === 'wake', name)
  }
  assert.equal((await snapshotOf([], { endpoints: { a: {} } })).policyOf('toString'), undefined)
})
