/** Tests that no answer of the API and no log line shows a configured secret, wherever a sender put it and however it is written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configuration, gatewayToken, install } from '../../test/installation.ts'
import type { Page, SessionSummary } from '../store/port.ts'

const secret = 'Stripe/secret+of-the-operator'
const encoded: Readonly<Record<string, string>> = {
  raw: secret,
  upper: secret.toUpperCase(),
  base64: Buffer.from(`x${secret}y`).toString('base64'),
  base64url: Buffer.from(`xy${secret}`).toString('base64url'),
  hex: Buffer.from(secret).toString('hex'),
  percent: encodeURIComponent(secret),
}
/** What is in the middle of each encoding, and so in no other text. */
const cores = Object.values(encoded).map((text) => text.slice(10, 20).toLowerCase())

test('no list, record, session, stream or log line shows a configured secret, in whatever encoding', async (t) => {
  const { post, ask, read, ended, log, gateway } = await install(t, {
    'reveille.yaml': `${configuration}history: { bodies: all }
`.replace(
      'hooks: {',
      `hooks: { allowRequestSessionKey: true, endpoints: { paid: { verify: { provider: stripe, secret: "${secret}" } } },`,
    ),
  })
  const sessionKeys = Object.values(encoded).map((text) => `hook:${text}`)
  const runs: unknown[] = []
  for (const [index, text] of Object.values(encoded).entries()) {
    const { body } = await post(
      `/hooks/agent?note=${encodeURIComponent(text)}`,
      {
        message: `Say ${text}`,
        name: text,
        sessionKey: sessionKeys[index],
        deliver: true,
      },
      { 'x-note': text },
    )
    runs.push((await ended(body['runId'])).id)
    await post('/hooks/wake', { text: `Wake ${text}` })
    await post(`/hooks/${encodeURIComponent(text)}`, { [text]: text })
  }
  const texts: string[] = []
  async function look(path: string): Promise<void> {
    const { status, text } = await ask(path)
    assert.equal(status, 200, path)
    JSON.parse(text)
    texts.push(`${path} ${text}`)
  }
  for (const list of [
    'requests',
    'runs',
    'events',
    'deliveries',
    'sessions',
    'issues',
    'endpoints',
    'generations',
  ])
    await look(`/api/${list}?limit=500`.replace(/(issues|endpoints)\?.*/, '$1'))
  for (const list of ['requests', 'runs', 'events', 'deliveries']) {
    const { items } = await read<Page<{ id: string }>>(`/api/${list}`)
    for (const { id } of items) await look(`/api/${list}/${id}`)
  }
  await look('/api/status')
  await look('/api/spend')
  await look('/api/generations/1/file?path=reveille.yaml')

  // Each session is found under the key that is shown, and through pages of one.
  const seen = new Set<string>()
  let cursor = ''
  do {
    const page = await read<Page<SessionSummary>>(`/api/sessions?limit=1${cursor}`)
    texts.push(JSON.stringify(page), Buffer.from(page.next ?? '', 'base64url').toString())
    for (const { key } of page.items) {
      seen.add(key)
      await look(`/api/sessions/${encodeURIComponent(key)}`)
    }
    cursor = page.next === undefined ? '' : `&cursor=${encodeURIComponent(page.next)}`
  } while (cursor !== '')
  assert.ok([...seen].some((key) => key.startsWith('hook:[redacted]')))

  const response = await gateway.inject({
    url: '/metrics',
    headers: { authorization: `Bearer ${gatewayToken}` },
  })
  texts.push(`/metrics ${response.payload}`, `log ${log()}`)
  for (const text of texts)
    for (const core of cores) {
      const at = text.toLowerCase().indexOf(core)
      assert.equal(at, -1, `${core}: ${text.slice(0, 60)} … ${text.slice(Math.max(0, at - 100), at + 60)}`)
    }
  assert.ok(texts.some((text) => text.includes('Say [redacted]')))
  for (const line of log().trim().split('\n')) JSON.parse(line)
})
