/** `reveille tail` against a gateway that runs: what the stream sends is what the command reads. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLine } from '../runtime/cli/io-fixture.ts'
import { gatewayToken, install } from './installation.ts'

const mappings = `mappings:
  - { id: opened, match: { path: github, body: { action: opened } }, action: wake, mode: next-heartbeat, text: "one" }
`

test('a request is shown when it comes, and an ignored one with the clause that failed', async (t) => {
  const { gateway, post } = await install(t, { 'mappings/github.yaml': mappings })
  const env = { REVEILLE_URL: await gateway.listen(), REVEILLE_GATEWAY_TOKEN: gatewayToken }
  const { start } = await createCommandLine(t, {}, { env, fetch })
  const running = start('tail', '--endpoint', 'github')
  await running.until(/from now on/)
  await post('/hooks/wake', { text: 'not shown' })
  await post('/hooks/github', { action: 'opened' })
  await post('/hooks/github', { action: 'closed' })
  const shown = await running.until(/found +"closed"/)
  assert.match(shown, /accepted +\/github matched opened +wake \w+/)
  assert.match(shown, /ignored +\/github[^\n]*\n +✗ opened\n +match\.body\.action +expected +"opened"/)
  assert.doesNotMatch(shown, /\/wake/)
  assert.equal((await running.stop()).code, 0)
})
