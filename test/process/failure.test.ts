/** Tests that a gateway ends if it cannot go on, or if a plugin leaves something open. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createFolder, rehearsalPlugin } from '../installation.ts'
import { bareConfiguration, build, limit, startReveille } from './reveille-process.ts'

before(build)

test("when the store's thread dies, the gateway says so and exits with code 1", limit, async (t) => {
  const folder = await createFolder(t, { 'reveille.yaml': bareConfiguration })
  const entry = fileURLToPath(new URL('./killable-store-gateway.ts', import.meta.url))
  const gateway = await startReveille(t, folder, { entry })
  gateway.send('SIGUSR2')
  assert.deepEqual(await gateway.ended, { code: 1, signal: null }, gateway.stderr())
  const { level } = await gateway.line('store-stopped')
  assert.equal(level, 60)
})

test('a plugin that leaves a timer open does not keep a stopped gateway alive', limit, async (t) => {
  const folder = await createFolder(t, {
    'reveille.yaml': `${bareConfiguration}plugins: ["${rehearsalPlugin}"]
channels: { board: { folder: "{folder}", clings: true } }
`,
  })
  const gateway = await startReveille(t, folder)
  await gateway.stop()
})
