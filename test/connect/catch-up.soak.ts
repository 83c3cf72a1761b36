/** As many deliveries as a day of a busy repository and of a busy shop, at the limits of the providers. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recoverFromGitHub, recoverFromStripe } from './recovery.ts'

test('500 deliveries that GitHub could not make are taken once each', async (t) => {
  const { calls, ms } = await recoverFromGitHub(t, 500)
  t.diagnostic(`${calls} calls in ${ms} ms`)
  assert.ok(calls <= 515, `${calls} calls`)
})

test('5,000 events that Stripe could not deliver are taken once each', async (t) => {
  const { calls, ms } = await recoverFromStripe(t, 5000)
  t.diagnostic(`${calls} calls in ${ms} ms`)
  assert.ok(calls <= 115, `${calls} calls`)
})
