import assert from 'node:assert/strict'
import { test } from 'node:test'
import { snapshotOf } from '../fixture.ts'

test('a policy with parameters applies to every endpoint that its name covers', () => {
  const snapshot = snapshotOf([], { endpoints: { 'orders/:id': { maxBodyBytes: 5 } } })
  assert.equal(snapshot.policyOf('orders/7')?.maxBodyBytes, 5)
  assert.equal(snapshot.covers('orders/7'), true)
  for (const name of ['orders', 'orders/', 'orders/7/8', 'Orders/7', 'wake', '__proto__', 'toString']) {
    assert.equal(snapshot.policyOf(name), undefined, name)
    assert.equal(snapshot.covers(name), name === 'wake', name)
  }
})

test('the more exact of two policies takes precedence, key by key', () => {
  const endpoints = {
    ':kind/7': { maxBodyBytes: 1 },
    'orders/7': { maxBodyBytes: 3 },
    'orders/:id': { maxBodyBytes: 2 },
    'orders/8': {},
  }
  const { policyOf } = snapshotOf([], { endpoints })
  const limits = ['orders/7', 'orders/8', 'orders/9', 'bills/7'].map((name) => policyOf(name)?.maxBodyBytes)
  assert.deepEqual(limits, [3, 2, 2, 1])
})

test('only a policy with its own name applies to a built-in endpoint', () => {
  const { policyOf } = snapshotOf([], {
    endpoints: { ':any': { maxBodyBytes: 1 }, agent: { maxBodyBytes: 2 } },
  })
  assert.deepEqual([policyOf('wake'), policyOf('agent')?.maxBodyBytes], [undefined, 2])
})
