import assert from 'node:assert/strict'
import test from 'node:test'
import { createDebounced } from './debounce.ts'

test('signals are merged until they pause', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const act = context.mock.fn()
  const { signal } = createDebounced(act, 50)
  for (let count = 0; count < 5; count++) {
    signal()
    context.mock.timers.tick(40)
  }
  assert.equal(act.mock.callCount(), 0)
  context.mock.timers.tick(10)
  assert.equal(act.mock.callCount(), 1)
  context.mock.timers.tick(10_000)
  assert.equal(act.mock.callCount(), 1)
})

test('signals without a pause are acted on all the same, once per longest wait', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const act = context.mock.fn()
  const { signal } = createDebounced(act, 30)
  for (let time = 0; time < 1200; time += 25) {
    signal()
    context.mock.timers.tick(25)
  }
  assert.ok(act.mock.callCount() >= 3 && act.mock.callCount() <= 4)
})

test('nothing happens after a cancel', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const act = context.mock.fn()
  const { signal, cancel } = createDebounced(act, 50)
  signal()
  cancel()
  context.mock.timers.tick(10_000)
  assert.equal(act.mock.callCount(), 0)
})

test('the pause can change, for signals from then on', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const act = context.mock.fn()
  const { signal, setRest } = createDebounced(act, 50)
  signal()
  setRest(200)
  context.mock.timers.tick(50)
  assert.equal(act.mock.callCount(), 1)
  signal()
  context.mock.timers.tick(199)
  assert.equal(act.mock.callCount(), 1)
  context.mock.timers.tick(1)
  assert.equal(act.mock.callCount(), 2)
})
