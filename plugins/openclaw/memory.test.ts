import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFirstTimes } from './first-times.ts'
import { createHandedEvents } from './handed-events.ts'
import { readRetryAfter } from './retry-after.ts'

test('events are remembered up to a limit, the newest longest', () => {
  const handed = createHandedEvents(2)
  for (const id of ['a', 'b', 'c']) handed.add(id)
  assert.deepEqual(
    ['a', 'b', 'c'].map((id) => handed.has(id)),
    [false, true, true],
  )
})

test('a run keeps the time of its first attempt until it is forgotten, or many others came', () => {
  const times = createFirstTimes(2)
  assert.deepEqual([times.of('a', 600.9), times.of('a', 20)], [600, 600])
  times.forget('a')
  assert.equal(times.of('a', 0.2), 1)
  assert.equal(times.of('b', undefined), undefined)
  times.of('b', 5)
  times.of('c', 5)
  assert.equal(times.of('a', 7), 7)
})

test('Retry-After is seconds or a date; anything else is nothing', () => {
  const now = Date.UTC(2026, 0, 1)
  const header = (text: string | null) => readRetryAfter(text, now)
  assert.deepEqual([header('0'), header(' 30 ')], [0, 30])
  assert.equal(header(new Date(now + 90_000).toUTCString()), 90)
  assert.equal(header(new Date(now - 90_000).toUTCString()), 0)
  assert.deepEqual([header(null), header(''), header('soon'), header('-1e999')], Array(4).fill(undefined))
})
