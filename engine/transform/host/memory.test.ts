/** Tests the memory of modules. One that takes too much is in test/transforms/misbehaving.test.ts. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServing } from './fixture.ts'

test('garbage does not count against the memory limit', async (t) => {
  const { call } = await createServing(
    t,
    {
      'wasteful.ts': `
        export default () => {
          let sum = 0
          for (let n = 0; n < 150; n++) sum += Buffer.alloc(4e6, 1).length
          return { message: String(sum) }
        }`,
    },
    { limits: { memoryMb: 32 } },
  )
  assert.deepEqual(await call('wasteful.ts'), { kind: 'one', action: { message: { value: '600000000' } } })
})

test('a worker that holds too much after a call is replaced, and the call is answered', async (t) => {
  const { call } = await createServing(
    t,
    {
      'leaks.ts': `
        const kept: Buffer[] = []
        let calls = 0
        export default () => {
          kept.push(Buffer.alloc(8e6, 1))
          return { message: String(++calls) }
        }`,
    },
    { limits: { memoryMb: 32, concurrency: 1 } },
  )
  const counts: number[] = []
  for (let n = 0; n < 12; n++) {
    const answer = await call('leaks.ts')
    assert.ok(answer.kind === 'one' && answer.action?.['message'] && 'value' in answer.action['message'])
    counts.push(Number(answer.action['message'].value))
  }
  assert.ok(Math.max(...counts) <= 5, `no worker answered more: ${counts}`)
  assert.equal(counts.filter((count) => count === 1).length >= 2, true, 'there were several')
})
