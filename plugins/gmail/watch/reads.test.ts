import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPluginError } from '@reveille/kit'
import { createReads } from './reads.ts'

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function createReader() {
  const reads = createReads()
  const controller = new AbortController()
  const running: PromiseWithResolvers<void>[] = []
  const read = () => {
    const reading = Promise.withResolvers<void>()
    running.push(reading)
    return reading.promise
  }
  const over = reads.run(read, controller.signal).catch((error) => error)
  return { reads, controller, running, over }
}

test('requests that come while a reading runs share the next reading', async () => {
  const { reads, running, controller, over } = createReader()
  const resolved: string[] = []
  reads.request().then(() => resolved.push('first'))
  await turn()
  for (const name of ['second', 'third', 'fourth']) reads.request().then(() => resolved.push(name))
  await turn()
  assert.equal(running.length, 1)
  running[0]?.resolve()
  await turn()
  assert.deepEqual(resolved, ['first'])
  assert.equal(running.length, 2)
  running[1]?.resolve()
  await turn()
  assert.deepEqual(resolved, ['first', 'second', 'third', 'fourth'])
  assert.equal(running.length, 2)
  assert.equal(reads.begun, 2)
  controller.abort('over')
  assert.equal(await over, 'over')
})

test('requests that wait at the end of the source, or come later, fail with a retryable error', async () => {
  const { reads, controller, running, over } = createReader()
  const first = reads.request()
  await turn()
  const second = reads.request()
  controller.abort('over')
  running[0]?.reject(new Error('called off'))
  await over
  for (const promise of [first, second, reads.request()])
    await assert.rejects(promise, (error) => isPluginError(error) && error.retryable)
})
