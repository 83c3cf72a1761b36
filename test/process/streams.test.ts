/** Tests that standard output has the terminal channel's replies, and standard error the log. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createFolder } from '../installation.ts'
import { bareConfiguration, build, limit, startReveille } from './reveille-process.ts'

before(build)

const configuration = `${bareConfiguration}channels: { terminal: {} }
agents: { route: { channel: terminal, to: stdout } }
`

test('without a terminal the log is JSON, and standard output has replies alone', limit, async (t) => {
  const folder = await createFolder(t, { 'reveille.yaml': configuration })
  const gateway = await startReveille(t, folder)
  const { post } = gateway
  assert.equal((await post('/hooks/wake', { text: 'The doorbell\nrang', mode: 'now' })).status, 200)
  assert.equal((await post('/hooks/wake', { text: 'An unauthenticated client' }, 'wrong')).status, 401)
  await gateway.line('delivery-delivered')
  await gateway.stop()

  assert.match(gateway.stdout(), /^╭ reply [0-9a-f]{6}\n│ The doorbell rang\n╰\n$/)
  const written = gateway.stderr()
  assert.ok(written.endsWith('\n'))
  const events = written
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line).event)
  for (const expected of [
    'snapshot-swapped',
    'gateway-listening',
    'request-accepted',
    'request-refused',
    'heartbeat-succeeded',
    'delivery-delivered',
    'gateway-draining',
    'gateway-stopped',
  ]) {
    assert.ok(events.includes(expected), `${expected} in ${events}`)
  }
})
