/** Tests that a secret and a token are changed on a running gateway without refusing their senders. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatewayToken, install, until } from '../installation.ts'
import { signedByGitHub } from '../signed.ts'

const [oldSecret, newSecret] = ['github-secret-that-is-old-9Zr7w', 'github-secret-that-is-new-5Kq2x']
const [oldToken, newToken] = ['doorbell-token-that-is-old-4Mn8v', 'doorbell-token-that-is-new-7Bc3y']

function configured(secrets: readonly string[], tokens: readonly string[]): string {
  return `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: info, format: json } }
hooks:
  enabled: true
  token: hook-token-of-somebody-else-2Fd6
  allowQueryToken: false
  endpoints:
    github: { verify: { provider: github, secret: [${secrets.join(', ')}] } }
    doorbell: { token: [${tokens.join(', ')}] }
  mappings:
    - { id: any, action: wake, mode: next-heartbeat, text: "Something came from {{path}}." }
`
}

test('a secret and a token are rotated in three steps without refusing a request', async (t) => {
  const { gateway, post, write, lines, read } = await install(t, {
    'reveille.yaml': configured([oldSecret], [oldToken]),
  })
  const held = { secret: oldSecret, token: oldToken }
  let sent = 0
  const refused: string[] = []

  async function sendBoth(): Promise<void> {
    const body = JSON.stringify({ number: ++sent })
    const answers = await Promise.all([
      post('/hooks/github', body, { authorization: '', ...signedByGitHub(body, held.secret) }),
      post('/hooks/doorbell', body, { authorization: `Bearer ${held.token}` }),
    ])
    for (const { status } of answers) if (status !== 200) refused.push(`${sent}: ${status}`)
  }

  /** Senders post without pause while the files change, until some requests have met the live version. */
  async function change(secrets: readonly string[], tokens: readonly string[]): Promise<void> {
    const state = { isLive: false }
    const senders = [1, 2, 3].map(async () => {
      while (!state.isLive) await sendBoth()
      await sendBoth()
    })
    await write('reveille.yaml', configured(secrets, tokens))
    const result = await gateway.reload()
    assert.equal(result.outcome, 'live', JSON.stringify(result))
    state.isLive = true
    await Promise.all(senders)
  }

  await change([newSecret, oldSecret], [newToken, oldToken])
  for (const event of ['old-secret-used', 'old-token-used']) {
    const reported = lines(event)
    assert.equal(reported.length, 1, `${event} is logged once a minute`)
    assert.doesNotMatch(JSON.stringify(reported), /that-is/)
  }
  Object.assign(held, { secret: newSecret, token: newToken })
  await sendBoth()
  await change([newSecret], [newToken])
  assert.deepEqual(refused, [])

  Object.assign(held, { secret: oldSecret, token: oldToken })
  await sendBoth()
  assert.deepEqual(refused, [`${sent}: 401`, `${sent}: 401`])
  const { items } = await until(async () => {
    const page = await read<{ items: { failure?: string }[] }>('/api/requests?outcome=refused')
    return page.items.length === 2 ? page : undefined
  }, 'both refusals')
  assert.deepEqual(items.map(({ failure }) => failure).sort(), ['SIGNATURE_MISMATCH', 'TOKEN_WRONG'])
})
