/** The address rules of channels, asked by a gateway when files load. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatewayToken, hookToken, install } from '../../../test/installation.ts'

const configured = (
  to: string,
) => `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { format: json } }
hooks:
  enabled: true
  token: ${hookToken}
  mappings: [{ match: { path: a }, message: x, channel: terminal, to: "${to}" }]
channels: { terminal: {} }
`

test('a reload refuses an address that its channel would not take, with its place and the form of a good one', async (t) => {
  const { ask, write } = await install(t, { 'reveille.yaml': configured('stdout') })
  await write('reveille.yaml', configured('stdot'))
  const { status, text } = await ask('/api/reload', { method: 'POST' })
  assert.equal(status, 409, text)
  assert.match(text, /INVALID_ADDRESS/)
  assert.match(text, /`to` is no address of the channel terminal/)
  assert.match(text, /takes `stdout` or `stderr`/)
  assert.match(text, /"line":5/)
  await write('reveille.yaml', configured('{{to}}').replace('to: "{{', 'allowPayloadRouting: true, to: "{{'))
  assert.equal((await ask('/api/reload', { method: 'POST' })).status, 200)
})
