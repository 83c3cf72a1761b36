import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { createReloadSignal } from './reload-signal.ts'

function send(options: { platform?: NodeJS.Platform; hasTerminal?: boolean; isThere?: boolean }) {
  const { platform = 'linux', hasTerminal = false, isThere = false } = options
  const signals = new EventEmitter()
  const story: string[] = []
  const signal = createReloadSignal({
    signals,
    platform,
    hasTerminal,
    isTerminalThere: () => isThere,
    onReload: () => void story.push('reload'),
    onTerminalGone: () => void story.push('gone'),
  })
  signals.emit('SIGHUP', 'SIGHUP')
  signal.close()
  assert.equal(signals.listenerCount('SIGHUP'), 0)
  return story
}

test('SIGHUP reloads a service, and a gateway whose terminal is there', () => {
  assert.deepEqual(send({}), ['reload'])
  assert.deepEqual(send({ hasTerminal: true, isThere: true }), ['reload'])
})

test('SIGHUP of a terminal that was closed ends what ran in it', () => {
  assert.deepEqual(send({ hasTerminal: true }), ['gone'])
})

test('on Windows SIGHUP is left to the system', () => {
  assert.deepEqual(send({ platform: 'win32' }), [])
})
