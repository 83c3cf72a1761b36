import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChangeFeed } from './change-feed.ts'

test('a listener that falls far behind continues with the oldest change that is remembered', async () => {
  const feed = createChangeFeed()
  const over = new AbortController()
  const slow = feed.listen({ signal: over.signal })
  for (let i = 0; i < 50_000; i++) feed.push([{ type: 'event', id: 'some-id', state: String(i) }])
  const seen: number[] = []
  for await (const { state } of slow) {
    seen.push(Number(state))
    if (state === '49999') break
  }
  over.abort()
  assert.ok(seen.length >= 8_192 && seen.length < 20_000)
  assert.deepEqual(
    seen,
    Array.from(seen, (_, index) => index + 50_000 - seen.length),
  )
})
