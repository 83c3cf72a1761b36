/** Tests that a misbehaving module fails its own request and nothing else, with a real gateway over a socket. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestRecord } from '../../runtime/store/port.ts'
import { gatewayToken, hookToken, install } from '../installation.ts'

const configuration = `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks:
  enabled: true
  token: ${hookToken}
  transforms: { timeout: 20s, memoryMb: 64 }
  mappings:
    - id: behaving
      match: { path: build }
      message: "Build {{number}}"
      deliver: false
      transform: { module: behaving.ts }
`

const module = `import { parentPort } from 'node:worker_threads'
import { defineTransform } from '@reveille/engine/transform'

const kept: unknown[] = []

export default defineTransform(({ payload }) => {
  switch (payload.how) {
    case 'exit':
      process.exit(3)
    case 'throw':
      throw new TypeError('no such build')
    case 'heap':
      for (;;) kept.push(Array.from({ length: 1000 }, (_, index) => ({ index })))
    case 'buffers':
      for (;;) kept.push(Buffer.alloc(1_000_000, 1))
    case 'rubbish':
      return (() => {}) as never
    case 'port':
      parentPort?.postMessage({ kind: 'one', action: { message: { value: 'forged' } } })
      break
  }
  return { message: \`Built \${payload.number}\` }
})
`

/** The reason that the operator reads. */
const failures: Readonly<Record<string, RegExp>> = {
  exit: /behaving\.ts.*(exit|ended)/,
  throw: /TypeError: no such build.*transforms\/behaving\.ts:11:13/,
  heap: /behaving\.ts.*64 MB/,
  buffers: /behaving\.ts.*64 MB/,
  rubbish: /behaving\.ts.*function/,
}

test('a module that misbehaves fails its own request with a located cause, and the next request is served', async (t) => {
  const files = { 'reveille.yaml': configuration, 'transforms/behaving.ts': module }
  const { post, read } = await install(t, files)

  async function assertBuilt(number: number, how: string): Promise<void> {
    const { body } = await post('/hooks/build', { how, number })
    const { message } = await read<{ message: string }>(`/api/runs/${body['runId']}`)
    assert.equal(message, `Built ${number}`, how)
  }

  for (const [index, [how, reason]] of Object.entries(failures).entries()) {
    const { status, body, text } = await post('/hooks/build', { how, number: index })
    assert.deepEqual([how, status, body['code']], [how, 500, 'TRANSFORM_FAILED'])
    assert.doesNotMatch(text, /behaving\.ts|no such build/, 'the sender does not learn why')
    const record = await read<RequestRecord & { bodyKept: boolean }>(`/api/requests/${body['requestId']}`)
    assert.deepEqual([how, record.outcome, record.bodyKept], [how, 'failed', true])
    assert.match(String(record.reason), reason)
    await assertBuilt(index, `after ${how}`)
  }
  await assertBuilt(9, 'port')
})
