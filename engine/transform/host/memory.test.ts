import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServing, failureOf, shownPlace } from './fixture.ts'

/** Transforms that take memory until they are stopped; with most of them V8's own limit would end the process. */
const hoarders = {
  'objects.ts': 'const kept: unknown[] = []; for (;;) kept.push({ x: 1 })',
  'lists.ts': 'const kept: unknown[] = []; for (;;) kept.push(new Array(3e6).fill(0))',
  'buffers.ts': 'const kept: unknown[] = []; for (;;) kept.push(Buffer.alloc(1e7, 1))',
}

test('a module that takes too much memory fails its own call, inside the heap and outside of it', async (t) => {
  const sources = Object.entries(hoarders).map(([name, code]) => [
    name,
    `export default ({ payload }: any): any => {\n  if (payload.good) return { message: 'good' }\n  ${code}\n}`,
  ])
  const { call } = await createServing(t, Object.fromEntries(sources), {
    limits: { memoryMb: 64, timeoutMs: 60_000 },
  })
  const each = Object.keys(hoarders).map(async (name) => {
    const error = await failureOf(call(name, { payload: {} }))
    assert.equal(error.message, `${name} uses more than 64 MB`)
    assert.match(shownPlace(error) ?? '', /:1:16 export default/)
    const good = { kind: 'one', action: { message: { value: 'good' } } }
    assert.deepEqual(await call(name, { payload: { good: true } }), good)
  })
  await Promise.all(each)
})

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
