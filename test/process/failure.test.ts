/** Tests that a gateway ends if it cannot go on, or if a plugin leaves something open. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createFolder, gatewayToken, hookToken, rehearsalPlugin } from '../installation.ts'
import { build, startReveille } from './reveille-process.ts'

before(build)

const limit = { timeout: 30_000 }

const configuration = `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks: { enabled: true, token: ${hookToken} }
`

test("when the store's thread dies, the gateway says so and exits with code 1", limit, async (t) => {
  const folder = await createFolder(t, { 'reveille.yaml': configuration })
  const entry = fileURLToPath(new URL('./killable-store-gateway.ts', import.meta.url))
  const gateway = await startReveille(t, folder, { entry })
  gateway.send('SIGUSR2')
  assert.deepEqual(await gateway.ended, { code: 1, signal: null }, gateway.stderr())
  const { level } = await gateway.line('store-stopped')
  assert.equal(level, 60)
})

test('a plugin that leaves a timer open does not keep a stopped gateway alive', limit, async (t) => {
  const folder = await createFolder(t, {
    'reveille.yaml': `${configuration}plugins: ["${rehearsalPlugin}"]
channels: { board: { folder: "{folder}", clings: true } }
`,
  })
  const gateway = await startReveille(t, folder)
  gateway.send('SIGTERM')
  assert.deepEqual(await gateway.ended, { code: 0, signal: null }, gateway.stderr())
})
