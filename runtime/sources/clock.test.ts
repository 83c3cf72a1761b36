import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { createSourceClock } from './index.ts'

test('a sleep ends in time, and leaves no listener on the signal', async () => {
  const clock = createSourceClock()
  const { signal } = new AbortController()
  for (const ms of [5, 0, -1, Number.NaN]) await clock.sleep(ms, signal)
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
})

test('a sleep ends with the reason of the signal, before it and in the middle', async () => {
  const clock = createSourceClock()
  const reason = new Error('wake up')
  await assert.rejects(clock.sleep(60_000, AbortSignal.abort(reason)), reason)
  const abort = new AbortController()
  const sleeping = clock.sleep(60_000, abort.signal)
  setImmediate(() => abort.abort(reason))
  await assert.rejects(sleeping, reason)
})

test('a sleep that is longer than any timer uses several', async () => {
  const naps: number[] = []
  const clock = createSourceClock(Date.now, {
    setTimeout(callback, ms) {
      naps.push(ms)
      return setImmediate(callback)
    },
    clearTimeout: () => {},
  })
  const maxTimerMs = 2 ** 31 - 1
  await clock.sleep(maxTimerMs * 2 + 1000, new AbortController().signal)
  assert.deepEqual(naps, [maxTimerMs, maxTimerMs, 1000])
})
