import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { createReloadSignal, createStopSignal } from './signals.ts'

test('the first signal stops, the same one from npm does not cut the drain short, and a later one insists', async () => {
  const signals = new EventEmitter()
  const insisted: string[] = []
  let time = 0
  const stop = createStopSignal({
    signals,
    now: () => time,
    onInsist: (signal) => void insisted.push(signal),
  })
  for (const [signal, at, expected] of [
    ['SIGTERM', 5, []],
    ['SIGINT', 45, []],
    ['SIGINT', 3000, ['SIGINT']],
  ] as const) {
    time = at
    signals.emit(signal, signal)
    assert.deepEqual(insisted, expected)
  }
  assert.equal(await stop.first, 'SIGTERM')
  stop.close()
  assert.equal(signals.listenerCount('SIGINT') + signals.listenerCount('SIGTERM'), 0)
})

test('SIGHUP reloads a service and a gateway whose terminal is there, ends one whose terminal was closed, and is left to Windows', () => {
  for (const [platform, hasTerminal, isThere, expected] of [
    ['linux', false, false, ['reload']],
    ['linux', true, true, ['reload']],
    ['linux', true, false, ['gone']],
    ['win32', false, false, []],
  ] as const) {
    const signals = new EventEmitter()
    const calls: string[] = []
    const signal = createReloadSignal({
      signals,
      platform,
      hasTerminal,
      isTerminalThere: () => isThere,
      onReload: () => void calls.push('reload'),
      onTerminalGone: () => void calls.push('gone'),
    })
    signals.emit('SIGHUP', 'SIGHUP')
    signal.close()
    assert.deepEqual(calls, expected)
    assert.equal(signals.listenerCount('SIGHUP'), 0)
  }
})
