import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFirstTimes } from './first-times.ts'
import { createHandedEvents } from './handed-events.ts'

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
