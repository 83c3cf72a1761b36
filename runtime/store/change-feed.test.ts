import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChangeFeed } from './change-feed.ts'

const change = (state: string) => ['event', 'some-id', state, undefined]

test('the writer reports changes only while there is a listener', () => {
  const reported: boolean[] = []
  const feed = createChangeFeed((on) => reported.push(on))
  const [one, two] = [new AbortController(), new AbortController()]
  feed.listen({ signal: one.signal })
  feed.listen({ signal: two.signal })
  assert.deepEqual(reported, [true])
  one.abort()
  assert.deepEqual(reported, [true])
  two.abort()
  assert.deepEqual(reported, [true, false])
})

test('a listener that falls far behind continues with the oldest change that is remembered', async () => {
  const feed = createChangeFeed(() => {})
  const over = new AbortController()
  const slow = feed.listen({ signal: over.signal })
  for (let i = 0; i < 50_000; i++) feed.push(change(String(i)))
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
