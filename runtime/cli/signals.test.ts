import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { createReloadSignal, createStopSignal } from './signals.ts'

function createStop() {
  const signals = new EventEmitter()
  const insisted: string[] = []
  let time = 0
  const stop = createStopSignal({
    signals,
    now: () => time,
    onInsist: (signal) => void insisted.push(signal),
  })
  const send = (signal: string, at: number) => {
    time = at
    signals.emit(signal, signal)
  }
  return { stop, send, insisted, signals }
}

test('the first signal stops', async () => {
  const { stop, send } = createStop()
  send('SIGTERM', 5)
  assert.equal(await stop.first, 'SIGTERM')
})

test('Ctrl-C that arrives twice, from the terminal and through npm, does not cut the drain short', () => {
  const { send, insisted } = createStop()
  send('SIGINT', 0)
  send('SIGINT', 40)
  assert.deepEqual(insisted, [])
})

test('a later signal insists', () => {
  const { send, insisted } = createStop()
  send('SIGINT', 0)
  send('SIGINT', 3000)
  assert.deepEqual(insisted, ['SIGINT'])
})

test('a closed stop signal listens to the process no more', () => {
  const { stop, signals } = createStop()
  stop.close()
  assert.equal(signals.listenerCount('SIGINT') + signals.listenerCount('SIGTERM'), 0)
})

function sendHangUp(options: { platform?: NodeJS.Platform; hasTerminal?: boolean; isThere?: boolean }) {
  const { platform = 'linux', hasTerminal = false, isThere = false } = options
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
  assert.equal(signals.listenerCount('SIGHUP'), 0)
  return calls
}

test('SIGHUP reloads a service, and a gateway whose terminal is there', () => {
  assert.deepEqual(sendHangUp({}), ['reload'])
  assert.deepEqual(sendHangUp({ hasTerminal: true, isThere: true }), ['reload'])
})

test('SIGHUP of a terminal that was closed ends what ran in it', () => {
  assert.deepEqual(sendHangUp({ hasTerminal: true }), ['gone'])
})

test('on Windows SIGHUP is left to the system', () => {
  assert.deepEqual(sendHangUp({ platform: 'win32' }), [])
})
