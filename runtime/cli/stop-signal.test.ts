import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { createStopSignal } from './stop-signal.ts'

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

test('closing lets go of the process', () => {
  const { stop, signals } = createStop()
  stop.close()
  assert.equal(signals.listenerCount('SIGINT') + signals.listenerCount('SIGTERM'), 0)
})
