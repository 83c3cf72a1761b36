import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoffMs, retryDelayMs } from './backoff.ts'

const backoff = { firstMs: 1000, mostMs: 60_000 }

test('the wait doubles with each failure, up to a most', () => {
  const waits = [1, 2, 3, 6, 7, 2000].map((failures) => backoffMs(failures, backoff, () => 1))
  assert.deepEqual(waits, [1000, 2000, 4000, 32_000, 60_000, 60_000])
})

test('jitter takes up to half of it', () => {
  assert.equal(
    backoffMs(2, backoff, () => 0),
    1000,
  )
})

test('what the vendor asks for wins, up to an hour', () => {
  const never = () => assert.fail('no jitter on what was asked for')
  assert.equal(retryDelayMs({ retryAfterMs: 90_000 }, 1, backoff, never), 90_000)
  assert.equal(retryDelayMs({ retryAfterMs: 0 }, 1, backoff, never), 0)
  assert.equal(retryDelayMs({ retryAfterMs: 1e9 }, 1, backoff, never), 3_600_000)
})
