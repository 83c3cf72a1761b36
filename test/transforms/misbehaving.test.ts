/** Tests that a misbehaving module fails its own request and nothing else, with a real gateway over a socket. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestRecord } from '../../runtime/store/port.ts'
import { gatewayToken, hookToken, type Installation, install, until } from '../installation.ts'

const loopMs = 1500

const configuration = (
  timeoutMs: number,
) => `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks:
  enabled: true
  token: ${hookToken}
  transforms: { timeout: ${timeoutMs}ms, memoryMb: 64 }
  mappings:
    - id: behaving
      match: { path: build }
      message: "Build {{number}}"
      deliver: false
      transform: { module: behaving.ts }
    - id: plain
      match: { path: bell }
      action: wake
      text: "Bell {{number}}"
      mode: next-heartbeat
`

const module = `import { parentPort } from 'node:worker_threads'
import { defineTransform } from '@reveille/engine/transform'

const kept: unknown[] = []

export default defineTransform(({ payload }) => {
  switch (payload.how) {
    case 'loop':
      for (;;);
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
      return { message: 'real' }
    case 'pause':
      return new Promise((done) => setTimeout(done, 300, null))
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
    reason: /TypeError: no such build.*transforms\/behaving\.ts:13:13/,
  },
  { how: 'heap', code: 'TRANSFORM_FAILED', reason: /behaving\.ts.*64 MB/ },
  { how: 'buffers', code: 'TRANSFORM_FAILED', reason: /behaving\.ts.*64 MB/ },
  { how: 'rubbish', code: 'TRANSFORM_FAILED', reason: /behaving\.ts.*function/ },
  { how: 'port', code: 'TRANSFORM_FAILED', reason: /behaving\.ts/ },
]

function start(t: Parameters<typeof install>[0], timeoutMs: number): Promise<Installation> {
  return install(t, { 'reveille.yaml': configuration(timeoutMs), 'transforms/behaving.ts': module })
}

type StoredRequest = RequestRecord & { readonly bodyKept: boolean }

/** Waits for the record, because the answer to a request without actions does not wait for it. */
function readRecord({ read }: Installation, requestId: unknown): Promise<StoredRequest> {
  return until(async () => {
    const record = await read<StoredRequest>(`/api/requests/${requestId}`)
    return record.outcome === undefined ? undefined : record
  }, `the record of ${requestId}`)
}

async function runOf({ post, read }: Installation, number: number): Promise<string> {
  const { status, body } = await post('/hooks/build', { number })
  assert.equal(status, 202)
  return (await read<{ message: string }>(`/api/runs/${body['runId']}`)).message
}

test('a module that misbehaves fails its own request with a located cause, and the next request is served', {
  timeout: 60_000,
}, async (t) => {
  const installed = await start(t, 20_000)
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
})

test('while one call loops forever, other calls of its module and of other mappings are answered at once', {
  timeout: 60_000,
}, async (t) => {
  const installed = await start(t, loopMs)
  const { gateway, post } = installed
  await runOf(installed, 0)
  // Two at once: a module that is in use has a worker more than it needs.
  await Promise.all([post('/hooks/build', { how: 'pause' }), post('/hooks/build', { how: 'pause' })])
  const url = await gateway.listen()
  let over = false
  const loop = post('/hooks/build', { how: 'loop' }).then((answer) => {
    over = true
    return answer
  })
  const slowest = { build: 0, bell: 0 }
  const answered = { build: 0, bell: 0 }
  while (!over) {
    for (const path of ['build', 'bell'] as const) {
      const begun = performance.now()
      const answer = await fetch(`${url}/hooks/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${hookToken}` },
        body: JSON.stringify({ number: answered[path] }),
      })
      await answer.arrayBuffer()
      assert.ok(answer.ok)
      answered[path]++
      slowest[path] = Math.max(slowest[path], performance.now() - begun)
    }
  }
  const { status, body } = await loop
  assert.deepEqual([status, body['code']], [500, 'TRANSFORM_TIMEOUT'])
  const { reason } = await readRecord(installed, body['requestId'])
  assert.match(String(reason), /behaving\.ts took longer than 1\.5 s.*\(transforms\/behaving\.ts:\d+:\d+\)$/)
  assert.ok(answered.build > 10, `${answered.build} calls of the same module were answered meanwhile`)
  // The promise is 100 ms, but a machine that runs other tests at the same time may need more.
  assert.ok(Math.max(slowest.build, slowest.bell) < loopMs / 2, JSON.stringify(slowest))
  t.diagnostic(
    `${answered.build + answered.bell} others meanwhile; the slowest of the module ${slowest.build.toFixed(1)} ms, of another mapping ${slowest.bell.toFixed(1)} ms`,
  )
})
