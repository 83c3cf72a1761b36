/** Tests a transform that blocks its thread in native code: the gateway serves on, and ends on SIGTERM. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createFolder, gatewayToken, hookToken } from '../installation.ts'
import { build, limit, startReveille } from './reveille-process.ts'

const configuration = `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks:
  enabled: true
  token: ${hookToken}
  transforms: { timeout: 200ms }
  mappings:
    - match: { path: build }
      transform: { module: stuck.mjs }
`

const module = `import { execFileSync } from 'node:child_process'
export default ({ payload }) => {
  if (payload.stuck) execFileSync(process.execPath, ['-e', 'setTimeout(() => {}, 20_000)'], { stdio: 'ignore' })
  return { message: 'Built', deliver: false }
}
`

before(build)

test(
  'a gateway with a thread that cannot be ended answers other requests, and exits after SIGTERM',
  limit,
  async (t) => {
    const folder = await createFolder(t, { 'reveille.yaml': configuration, 'transforms/stuck.mjs': module })
    const gateway = await startReveille(t, folder)
    const post = async (given: object) => {
      const { status, body } = await gateway.post('/hooks/build', given)
      return [status, body['code']]
    }
    assert.deepEqual(await post({ stuck: true }), [500, 'TRANSFORM_TIMEOUT'])
    const { module: abandoned, level } = await gateway.line('worker-abandoned')
    assert.deepEqual([abandoned, level], ['stuck.mjs', 50])
    assert.deepEqual(await post({}), [202, undefined])
    gateway.send('SIGTERM')
    assert.deepEqual(await gateway.ended, { code: null, signal: 'SIGTERM' })
    assert.ok(
      gateway.lines().some(({ event }) => event === 'gateway-stopped'),
      'it stopped in order',
    )
  },
)
