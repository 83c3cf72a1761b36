/** Tests the memory of modules. One that takes too much is in test/transforms/misbehaving.test.ts. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServing, fieldOf } from './fixture.ts'

test('garbage does not count against the memory limit', async (t) => {
  const wasteful = `export default () => {
    let sum = 0
    for (let n = 0; n < 150; n++) sum += Buffer.alloc(4e6, 1).length
    return { message: String(sum) }
  }`
  const { call } = await createServing(t, { 'wasteful.ts': wasteful }, { limits: { memoryMb: 32 } })
  assert.equal(fieldOf(await call('wasteful.ts')), '600000000')
})

test('a worker that holds too much after a call is replaced, and the call is answered', async (t) => {
  const leaks = `
    const kept: Buffer[] = []
    export default () => ({ message: String(kept.push(Buffer.alloc(8e6, 1))) })`
  const { call } = await createServing(t, { 'leaks.ts': leaks }, { limits: { memoryMb: 32, concurrency: 1 } })
  const counts: number[] = []
  for (let n = 0; n < 12; n++) counts.push(Number(fieldOf(await call('leaks.ts'))))
  assert.ok(Math.max(...counts) <= 5, `no worker answered more: ${counts}`)
  assert.ok(counts.filter((count) => count === 1).length >= 2, 'there were several')
})
