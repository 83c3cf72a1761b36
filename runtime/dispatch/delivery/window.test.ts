import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSlidingWindow, createTargetWindows } from './window.ts'

test('no window of time holds more messages than the pace allows, however they come', () => {
  const pace = { count: 3, ms: 1000 }
  const window = createSlidingWindow()
  const sent: number[] = []
  // The steps have arbitrary lengths, which are the same each time.
  for (let now = 0, step = 7; sent.length < 200; step = (step * 31) % 211) {
    now += step
    now += window.waitMs(pace, now)
    assert.equal(window.waitMs(pace, now), 0, 'a wait is as long as it has to be')
    window.take(pace, now)
    sent.push(now)
  }
  for (const [index, at] of sent.entries()) {
    const before = sent[index - pace.count]
    assert.ok(before === undefined || at - before >= pace.ms, `${before} and ${at} lie in one window`)
  }
})

test('after the clock was set back no message waits longer than the window', () => {
  const pace = { count: 1, ms: 1000 }
  const window = createSlidingWindow()
  window.take(pace, 3_600_000)
  assert.equal(window.waitMs(pace, 0), 1000)
})

test('a slower pace after a reload counts the messages sent under the faster one', () => {
  const window = createSlidingWindow()
  for (const at of [0, 10]) window.take({ count: 2, ms: 100 }, at)
  assert.equal(window.waitMs({ count: 1, ms: 1000 }, 20), 990)
})

test('ten thousand targets are remembered, those that were asked for last', () => {
  const pace = { count: 1, ms: 1000 }
  const windows = createTargetWindows()
  const first = windows.of('first')
  for (let index = 0; index < 9999; index += 1) windows.of(`d${index}`).take(pace, 1000)
  assert.equal(windows.of('first'), first)
  windows.of('another')
  assert.equal(windows.of('first'), first)
  assert.equal(windows.of('d1').waitMs(pace, 1000), 1000)
  assert.equal(windows.of('d0').waitMs(pace, 1000), 0)
})
