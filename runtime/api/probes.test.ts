import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { atEnd } from '../../test/at-end.ts'
import { gatewayToken, hookToken, install, rehearsalPlugin, until } from '../../test/installation.ts'
import type { Page, RunRecord } from '../store/port.ts'

const patient = `gateway: { port: 0, auth: { token: ${gatewayToken} }, limits: { backlog: 2 } }
hooks: { enabled: true, token: ${hookToken} }
plugins: ["${rehearsalPlugin}"]
agents: { defaults: { runner: patient }, runners: { patient: { kind: patient, folder: "{folder}" } } }
`
const run = { message: 'wait', sessionKey: 'hook:one', deliver: false, wakeMode: 'next-heartbeat' }

test('liveness and readiness need no token', async (t) => {
  const { ask } = await install(t, {})
  for (const path of ['/healthz', '/readyz']) {
    const { status, body } = await ask(path, { headers: {} })
    assert.deepEqual({ status, body }, { status: 200, body: { ok: true } })
  }
})

test('a gateway whose backlog is full is alive, not ready, and ready again when the work is done', async (t) => {
  const { ask, post, read, write } = await install(t, { 'reveille.yaml': patient })
  assert.equal((await post('/hooks/agent', run)).status, 202)
  assert.equal((await ask('/readyz')).status, 200)
  assert.equal((await post('/hooks/agent', run)).status, 202)

  const { status, body } = await ask('/readyz', { headers: {} })
  assert.deepEqual({ status, body }, { status: 503, body: { ok: false, reason: 'the backlog is full' } })
  assert.equal((await ask('/healthz')).status, 200)
  const refused = await post('/hooks/agent', run)
  assert.deepEqual([refused.status, refused.body['code']], [503, 'BACKLOG'])
  assert.ok(Number(refused.headers['retry-after']) > 0)
  assert.equal((await read<Page<RunRecord>>('/api/runs')).items.length, 2, 'the admin surface goes on')

  await write('go', '*')
  await until(async () => (await ask('/readyz')).status === 200 || undefined, 'readiness')
  assert.equal((await post('/hooks/agent', run)).status, 202)
})

test('a gateway that drains is alive and not ready', async (t) => {
  const { gateway } = await install(t, {})
  const { port } = new URL(await gateway.listen())
  const socket = connect({ host: '127.0.0.1', port: Number(port) })
  atEnd(t, () => socket.destroy())
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  // A request whose head is not whole keeps the connection open while the others close.
  socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\nGET /readyz HTTP/1.1\r\n')
  while (!text.includes('{"ok":true}')) await once(socket, 'data')
  const closing = gateway.close()
  socket.write('Host: x\r\n\r\n')
  await once(socket, 'close')
  await closing
  assert.match(text, /HTTP\/1\.1 503 .*\{"ok":false,"reason":"draining"\}$/s)
})
