/** Tests the senders of docs/trust.md that send a challenge first, with the lines of that page. */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse, stringify } from 'yaml'
import { type AskOptions, hookToken, type Installation, install } from '../installation.ts'

const secret = 'k3v9-uG3jQ9dT5hE1oS6xAaVzP8yM'
const oktaToken = 'okta-p0Yt7RcB1WmX8vZq4LsK2fNd'
const event = '{"lamp":3}'

function digest(text: string, hash = 'sha256', encoding: 'hex' | 'base64' = 'hex'): string {
  return createHmac(hash, secret).update(text).digest(encoding)
}

/** Starts a gateway with the policies of the page, and a mapping that takes any body. */
async function open(t: TestContext, env: Record<string, string> = {}): Promise<Installation> {
  const page = await readFile(join(import.meta.dirname, '../../docs/trust.md'), 'utf8')
  const [, example = ''] = /```yaml\n(hooks:\n {2}endpoints:\n {4}dropbox:.*?)```/s.exec(page) ?? []
  const { endpoints } = parse(example).hooks
  const hooks = {
    enabled: true,
    token: hookToken,
    endpoints,
    mappings: [{ id: 'all', action: 'wake', text: 'It sent {{json payload}}.' }],
  }
  const named = ['DROPBOX_APP_SECRET', 'X_CONSUMER_SECRET', 'TRELLO_SECRET', 'TWITCH_SECRET']
  const secrets = Object.fromEntries(named.map((name) => [name, secret]))
  return install(
    t,
    { 'reveille.yaml': stringify({ gateway: { port: 0, log: { format: 'json' } }, hooks }) },
    { env: { ...secrets, OKTA_TOKEN: oktaToken, ...env } },
  )
}

test('the senders that the page lists get their challenges answered and their events accepted', async (t) => {
  const gateway = await open(t)
  const ask = (path: string, options: AskOptions = {}) =>
    gateway.ask(`/hooks/${path}`, { headers: {}, ...options })
  const post = (path: string, headers: Record<string, string>, payload = event) =>
    ask(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, payload })
  const assertTaken = async (path: string, headers: Record<string, string>) => {
    const { status, body } = await post(path, headers)
    assert.deepEqual([status, typeof body['eventId']], [200, 'string'], path)
  }

  await t.test('Dropbox sends its challenge by GET', async () => {
    const { status, headers, text } = await ask('dropbox?challenge=a%3Cb%3E')
    assert.deepEqual([status, text, headers['content-type']], [200, 'a<b>', 'text/plain; charset=utf-8'])
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal((await ask('dropbox')).status, 405)
    assert.equal((await ask('dropbox?challenge=a&challenge=b')).status, 405)
    assert.equal((await ask('dropbox?challenge=a', { method: 'HEAD' })).status, 405)
    await assertTaken('dropbox', { 'x-dropbox-signature': digest(event) })
  })

  await t.test('Okta sends its challenge in a header of a GET', async () => {
    const { status, body } = await ask('okta', { headers: { 'x-okta-verification-challenge': 'v1' } })
    assert.deepEqual([status, body], [200, { verification: 'v1' }])
    assert.equal((await post('okta', { 'x-okta-verification-challenge': 'v1' })).status, 401)
    await assertTaken('okta', { authorization: `Bearer ${oktaToken}` })
  })

  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const signedByX = (text: string) => ({
    'x-twitter-webhooks-signature': `sha256=${digest(text, 'sha256', 'base64')}`,
  })
  await t.test('X signs a challenge of a GET, which has no body', async () => {
    const { status, body } = await ask('x?crc_token=c7sLk-4_A%3D&nonce=1')
    const right = `sha256=${digest('c7sLk-4_A=', 'sha256', 'base64')}`
    assert.deepEqual([status, body], [200, { response_token: right }])
    await assertTaken('x', signedByX(event))
    for (const token of [event, 'text=hello', 'a b', '"a"', '', 'a'.repeat(257)])
      assert.equal((await ask(`x?crc_token=${encodeURIComponent(token)}`)).status, 405, token)
    for (const token of ['text', '42', 'true', 'lamp='])
      assert.equal((await post('x', { ...form, ...signedByX(token) }, token)).status, 401, token)
  })

  await t.test('Trello asks by HEAD', async () => {
    const { status, text } = await ask('trello', { method: 'HEAD' })
    assert.deepEqual([status, text], [200, ''])
    assert.equal((await ask('trello')).status, 405)
    const signed = `${event}https://hooks.example.com/hooks/trello`
    await assertTaken('trello', { 'x-trello-webhook': digest(signed, 'sha1', 'base64') })
  })

  await t.test('Twitch signs its challenge, which is answered as text', async () => {
    const at = (moment: number, payload: string) => {
      const time = new Date(moment).toISOString().replace('Z', '634226Z')
      return {
        'twitch-eventsub-message-id': `m-${moment}`,
        'twitch-eventsub-message-timestamp': time,
        'twitch-eventsub-message-signature': `sha256=${digest(`m-${moment}${time}${payload}`)}`,
      }
    }
    const challenge = '{"challenge":"pogchamp-kappa-360noscope","subscription":{}}'
    const { status, text } = await post('twitch', at(Date.now(), challenge), challenge)
    assert.deepEqual([status, text], [200, 'pogchamp-kappa-360noscope'])
    const forged = { ...at(Date.now(), challenge), 'twitch-eventsub-message-signature': 'sha256=00' }
    assert.equal((await post('twitch', forged, challenge)).status, 401)
    assert.equal((await post('twitch', at(Date.now() - 600_000, event))).status, 401)
    await assertTaken('twitch', at(Date.now(), event))
  })

  await t.test('Asana sends its own secret, which is stored until it is configured', async () => {
    const { status, headers } = await post('asana', { 'x-hook-secret': secret }, '{}')
    assert.deepEqual([status, headers['x-hook-secret']], [200, secret])
    const folder = join(gateway.folder, 'data', 'stored-secrets')
    const [file = ''] = await readdir(folder)
    assert.equal(await readFile(join(folder, file), 'utf8'), `${secret}\n`)
    assert.doesNotMatch(gateway.log(), new RegExp(secret))
    assert.equal((await post('asana', { 'x-hook-signature': digest(event) })).status, 401)
  })
})

test('once the secret is configured, only signatures of that secret are accepted for Asana', async (t) => {
  const gateway = await open(t, { ASANA_HOOK_SECRET: secret })
  const post = (headers: Record<string, string>) =>
    gateway.ask('/hooks/asana', { method: 'POST', headers, payload: event })
  assert.equal((await post({ 'x-hook-signature': digest(event) })).status, 200)
  const other = await post({ 'x-hook-secret': 'another-secret' })
  assert.deepEqual([other.status, other.headers['x-hook-secret']], [401, undefined])
})
