/** Tests what each token of the gateway may do, that the log names who did something, and that tokens are distinguished. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configuration, gatewayToken, install } from '../../test/installation.ts'
import type { RouteDeclaration } from './routes/declaration.ts'
import { routes } from './routes/index.ts'

const tokens = {
  read: 'read-token-4fK29sLq0ZpVx81mWnB7cRtY',
  operate: 'operate-token-4fK29sLq0ZpVx81mWnB7',
  configure: 'configure-token-4fK29sLq0ZpVx81mWn',
} as const
const order = ['read', 'operate', 'configure'] as const
const listed = order.map((may) => `{ name: ${may}er, token: ${tokens[may]}, may: ${may} }`).join(', ')
const files = {
  'reveille.yaml': configuration.replace(
    `auth: { token: ${gatewayToken} }`,
    `auth: { token: ${gatewayToken}, tokens: [${listed}] }`,
  ),
}
const by = (token: string) => ({ authorization: `Bearer ${token}` })

test('each route refuses tokens without its right, with 403 and the name of the right', async (t) => {
  const { ask, lines } = await install(t, files)
  for (const [name, { method, path, needs }] of Object.entries<RouteDeclaration>(routes)) {
    if (name === 'signIn') continue
    const address = `/api${path.replace(/:\w+/g, 'x')}`
    for (const may of order) {
      if (name === 'followStream' || order.indexOf(may) >= order.indexOf(needs)) continue
      const { status, body } = await ask(address, { method, headers: by(tokens[may]), payload: '{}' })
      assert.deepEqual([status, body['code']], [403, 'RIGHT_MISSING'], `${name} by ${may}`)
      assert.equal(body['error'], `This needs a token that may ${needs}, and "${may}er" may only ${may}.`)
    }
    if (method !== 'GET') assert.ok(needs !== 'read' || name === 'signOut', `${name} changes something`)
  }
  for (const path of ['/api/runs', '/api/status', '/api/openapi.json'])
    for (const may of order) assert.equal((await ask(path, { headers: by(tokens[may]) })).status, 200, path)
  const raw = await ask('/api/requests/x/body?raw=true', { headers: by(tokens.read) })
  assert.equal(raw.body['code'], 'RIGHT_MISSING', 'the raw bytes may hold secrets')
  assert.equal((await ask('/metrics', { headers: by(tokens.read) })).status, 200)
  const refused = lines('admin-action').find(({ by }) => by === 'reader')
  assert.partialDeepStrictEqual(refused, { status: 403 })
})

test('a sign-in has the rights of its token, and says them', async (t) => {
  const { ask } = await install(t, files)
  const origin = 'http://localhost:80'
  const payload = JSON.stringify({ token: tokens.read })
  const answer = await ask('/api/session', { method: 'POST', headers: { origin }, payload })
  assert.partialDeepStrictEqual(answer.body, { ok: true, name: 'reader', may: 'read' })
  const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? ''
  const headers = { cookie, origin, 'x-reveille-key': String(answer.body['key']) }
  assert.deepEqual((await ask('/api/session', { headers })).body, { name: 'reader', may: 'read' })
  assert.equal((await ask('/api/reload', { method: 'POST', headers })).status, 403)
})
