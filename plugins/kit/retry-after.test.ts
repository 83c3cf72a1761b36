import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRetryAfter } from './retry-after.ts'

test('Retry-After is seconds or a date; anything else is nothing', () => {
  const now = Date.UTC(2026, 0, 1)
  const header = (text: string | null | undefined) => readRetryAfter(text, now)
  assert.deepEqual([header('0'), header(' 30 '), header('1.5')], [0, 30, 1.5])
  assert.equal(header(new Date(now + 90_000).toUTCString()), 90)
  assert.equal(header(new Date(now - 90_000).toUTCString()), 0)
  const none = [undefined, null, '', 'soon', '-1e999']
  assert.deepEqual(none.map(header), none.fill(undefined))
})
