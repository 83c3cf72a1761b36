import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoffMs, readRetryAfter, retryDelayMs } from './retry.ts'

const backoff = { firstMs: 1000, maxMs: 60_000 }

test('the wait doubles with each failure, up to a limit', () => {
  const waits = [1, 2, 3, 6, 7, 2000].map((failures) => backoffMs(failures, backoff, () => 1))
  assert.deepEqual(waits, [1000, 2000, 4000, 32_000, 60_000, 60_000])
})

test('jitter removes up to half of the wait', () => {
  assert.equal(
    backoffMs(2, backoff, () => 0),
    1000,
  )
})

test('the range of the jitter can be set, and no wait exceeds the limit', () => {
  const around = { ...backoff, jitter: [2 / 3, 4 / 3] as const }
  const waits = [
    [2, 0],
    [2, 1],
    [7, 1],
  ].map(([failures = 0, random = 0]) => backoffMs(failures, around, () => random))
  assert.deepEqual(waits, [1333, 2667, 60_000])
})

test("the vendor's wait takes precedence, up to an hour or the given limit", () => {
  const never = () => assert.fail('no jitter on what was asked for')
  assert.equal(retryDelayMs({ retryAfterMs: 90_000 }, 1, backoff, never), 90_000)
  assert.equal(retryDelayMs({ retryAfterMs: 1e9 }, 1, backoff, never), 3_600_000)
  assert.equal(retryDelayMs({ retryAfterMs: 1e9 }, 1, backoff, never, 5000), 5000)
})

test('a vendor that asks for a wait of 0 does not disable the backoff', () => {
  assert.equal(
    retryDelayMs({ retryAfterMs: 0 }, 2, backoff, () => 1),
    2000,
  )
})

test('a fraction of a millisecond is rounded up', () => {
  assert.equal(
    retryDelayMs({ retryAfterMs: 64_569.999 }, 1, backoff, () => 1),
    64_570,
  )
})

test('Retry-After is seconds or a date; anything else is nothing', () => {
  const now = Date.UTC(2026, 0, 1)
  const header = (text: string | null | undefined) => readRetryAfter(text, now)
  assert.deepEqual([header('0'), header(' 30 '), header('1.5')], [0, 30, 1.5])
  assert.equal(header(new Date(now + 90_000).toUTCString()), 90)
  assert.equal(header(new Date(now - 90_000).toUTCString()), 0)
  const none = [undefined, null, '', 'soon', '-1e999']
  assert.deepEqual(none.map(header), none.fill(undefined))
})
