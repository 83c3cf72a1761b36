/** Tests that a misbehaving module fails its own request and nothing else, with a real gateway over a socket. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestRecord } from '../../runtime/store/port.ts'
import { gatewayToken, hookToken, type Installation, install, until } from '../installation.ts'

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

interface Failure {
  readonly how: string
  readonly code: string
  /** The reason that the operator reads. */
  readonly reason: RegExp
}

const failures: readonly Failure[] = [
  { how: 'exit', code: 'TRANSFORM_FAILED', reason: /behaving\.ts.*(exit|ended)/ },
  {
    how: 'throw',
    code: 'TRANSFORM_FAILED',
    reason: /TypeError: no such build.*transforms\/behaving\.ts:11:13/,
  },
  { how: 'heap', code: 'TRANSFORM_FAILED', reason: /behaving\.ts.*64 MB/ },
  { how: 'buffers', code: 'TRANSFORM_FAILED', reason: /behaving\.ts.*64 MB/ },
  { how: 'rubbish', code: 'TRANSFORM_FAILED', reason: /behaving\.ts.*function/ },
]

type StoredRequest = RequestRecord & { readonly bodyKept: boolean }

/** Waits for the record, because the answer to a request without actions does not wait for it. */
function readRecord({ read }: Installation, requestId: unknown): Promise<StoredRequest> {
  return until(async () => {
    const record = await read<StoredRequest>(`/api/requests/${requestId}`)
    return record.outcome === undefined ? undefined : record
  }, `the record of ${requestId}`)
}

async function runOf({ post, read }: Installation, number: number, how?: string): Promise<string> {
  const { status, body } = await post('/hooks/build', { how, number })
  assert.equal(status, 202)
  return (await read<{ message: string }>(`/api/runs/${body['runId']}`)).message
}

test('a module that misbehaves fails its own request with a located cause, and the next request is served', {
  timeout: 60_000,
}, async (t) => {
  const installed = await install(t, { 'reveille.yaml': configuration, 'transforms/behaving.ts': module })
  const { post } = installed
  for (const [index, { how, code, reason }] of failures.entries()) {
    const { status, body, text } = await post('/hooks/build', { how, number: index })
    assert.deepEqual([how, status, body['code']], [how, 500, code])
    assert.doesNotMatch(text, /behaving\.ts|no such build/, 'the sender does not learn why')
    const record = await readRecord(installed, body['requestId'])
    assert.deepEqual([how, record.outcome, record.bodyKept], [how, 'failed', true])
    assert.match(String(record.reason), reason)
    assert.equal(await runOf(installed, index), `Built ${index}`, `after ${how}`)
  }
  assert.equal(await runOf(installed, 9, 'port'), 'Built 9', 'what it posts to its parent reaches nobody')
})
