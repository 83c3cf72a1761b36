import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { createLineReader } from './io.ts'

const never = new AbortController().signal

test('each call resolves with the next line, also of lines that came at once', async () => {
  const input = new PassThrough()
  const line = createLineReader(input)
  const first = line(never)
  input.write('one\ntwo\r\n')
  assert.equal(await first, 'one')
  assert.equal(await line(never), 'two')
  const third = line(never)
  input.write('th')
  input.write('ree\n')
  assert.equal(await third, 'three')
})

test('after the end a call rejects only with the reason of its signal', async () => {
  const input = new PassThrough()
  const line = createLineReader(input)
  const first = line(never)
  input.end('last')
  assert.equal(await first, 'last')
  const abort = new AbortController()
  const reason = new Error('over')
  const second = line(abort.signal)
  abort.abort(reason)
  await assert.rejects(second, (error) => error === reason)
})

test('a call on a closed input waits until its signal is aborted', async () => {
  const input = new PassThrough()
  input.end()
  const abort = new AbortController()
  const waiting = createLineReader(input)(abort.signal)
  const { promise, resolve } = Promise.withResolvers<void>()
  input.on('close', () => resolve())
  await promise
  abort.abort(new Error('over'))
  await assert.rejects(waiting, /over/)
})
