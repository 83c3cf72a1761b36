import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createDebounced } from './debounce.ts'

function setUp(context: TestContext, ms: number) {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  let acts = 0
  const debounced = createDebounced(() => void acts++, ms)
  /** Returns how often it has acted, after some time. */
  const actsAfter = (passedMs: number) => {
    context.mock.timers.tick(passedMs)
    return acts
  }
  return { ...debounced, actsAfter }
}

test('signals are merged until they pause, and nothing happens after a cancel', (context) => {
  const { signal, cancel, actsAfter } = setUp(context, 50)
  for (let count = 0; count < 5; count++) {
    signal()
    assert.equal(actsAfter(40), 0)
  }
  assert.deepEqual([actsAfter(10), actsAfter(10_000)], [1, 1])
  signal()
  cancel()
  assert.equal(actsAfter(10_000), 1)
})

test('signals without a pause are acted on all the same, once per longest wait', (context) => {
  const { signal, actsAfter } = setUp(context, 30)
  for (let time = 0; time < 1200; time += 25) {
    signal()
    actsAfter(25)
  }
  assert.ok(actsAfter(0) >= 3 && actsAfter(0) <= 4)
})

test('the pause can change, for signals from then on', (context) => {
  const { signal, setRest, actsAfter } = setUp(context, 50)
  signal()
  setRest(200)
  assert.equal(actsAfter(50), 1)
  signal()
  assert.deepEqual([actsAfter(199), actsAfter(1)], [1, 2])
})
