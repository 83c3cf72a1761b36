/**
 * Tests endpoints of real providers on one gateway over a socket: the answers, and what the operator reads of them.
 */

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { RequestRecord } from '../../runtime/store/port.ts'
import { gatewayToken, hookToken, install } from '../installation.ts'
import { createDiscordKeys, seconds, signedByDiscord, signedByGitHub, signedBySlack } from '../signed.ts'

const secrets = {
  githubNew: 'github-secret-that-is-new-5Kq2x',
  githubOld: 'github-secret-that-is-old-9Zr7w',
  slack: '8f742231b10e8888abcd99yyyzzz85a5',
  verifyToken: 'verify-token-of-the-operator',
}
const discord = createDiscordKeys()

const configuration = `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
history: { bodies: all }
hooks:
  enabled: true
  token: ${hookToken}
  maxBodyBytes: 4096
  endpoints:
    github: { verify: { provider: github, secret: [${secrets.githubNew}, ${secrets.githubOld}] } }
    slack: { verify: { provider: slack, secret: ${secrets.slack} } }
    discord: { verify: { provider: discord, publicKey: "${discord.publicKey}" } }
    meta: { verify: { provider: meta, verifyToken: ${secrets.verifyToken} } }
    notion: { verify: { provider: notion } }
    gmail:
      verify:
        { provider: google-pubsub, audience: "https://hooks.example.com", serviceAccount: push@example.com }
    local: { auth: none }
  mappings:
    - { id: any, message: "Something came from {{path}}.", deliver: false, wakeMode: next-heartbeat }
`

interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}

async function openGateway(t: TestContext) {
  const installation = await install(
    t,
    { 'reveille.yaml': configuration },
    { fetch: () => Promise.reject(new TypeError('fetch failed')) },
  )
  const address = await installation.gateway.listen()

  async function send(path: string, { method = 'POST', headers = {}, body }: Sent) {
    const response = await fetch(`${address}/hooks/${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    const { code, runId } = text.startsWith('{') ? JSON.parse(text) : {}
    return { status: response.status, headers: response.headers, text, code, runId }
  }
  /** The newest requests as the operator reads them. */
  async function requests(query: string): Promise<RequestRecord[]> {
    const { items } = await installation.read<{ items: RequestRecord[] }>(`/api/requests?${query}`)
    return items
  }
  return { ...installation, address, send, requests }
}

const byGitHub = (body: string | Buffer, secret = secrets.githubNew) => signedByGitHub(body, secret)
const bySlack = (body: string, secondsAgo = 0) => signedBySlack(body, secrets.slack, seconds() - secondsAgo)
const byDiscord = (body: string) => signedByDiscord(body, discord.privateKey)

test('endpoints of real providers', async (t) => {
  const { send, requests, lines, folder, log, address } = await openGateway(t)
  const failureOf = async (endpoint: string) => {
    const [newest] = await requests(`outcome=refused&endpoint=${endpoint}&limit=1`)
    return newest?.failure
  }

  await t.test('GitHub: only its own signature is accepted, and the hook token is not', async () => {
    const body = JSON.stringify({ action: 'opened', title: 'Zażółć gęślą jaźń' })
    assert.equal((await send('github', { headers: byGitHub(body), body })).status, 202)
    for (const [headers, failure] of [
      [{}, 'SIGNATURE_MISSING'],
      [{ authorization: `Bearer ${hookToken}` }, 'SIGNATURE_MISSING'],
      [byGitHub(body, 'another-secret'), 'SIGNATURE_MISMATCH'],
      [{ 'x-hub-signature-256': 'sha256=zz' }, 'SIGNATURE_MALFORMED'],
      [{ 'x-hub-signature': 'sha1=0000000000000000000000000000000000000000' }, 'SIGNATURE_WEAKER'],
    ] as const) {
      const { status, code } = await send('github', { headers, body })
      assert.deepEqual([status, code], [401, 'UNAUTHORIZED'], failure)
      assert.equal(await failureOf('github'), failure)
    }
  })

  await t.test(
    'GitHub: a body that was serialised again on its way does not match its signature',
    async () => {
      const body = '{ "number": 1.0 }'
      const reserialised = JSON.stringify(JSON.parse(body))
      assert.equal((await send('github', { headers: byGitHub(body), body: reserialised })).status, 401)
      assert.equal((await send('github', { headers: byGitHub(body), body })).status, 202)
    },
  )

  await t.test('GitHub: a compressed body is verified as it was sent', async () => {
    const body = gzipSync('{"a":1}')
    const encoded = { 'content-encoding': 'gzip' }
    assert.equal((await send('github', { headers: { ...encoded, ...byGitHub(body) }, body })).status, 202)
    const ofText = byGitHub('{"a":1}')
    assert.equal((await send('github', { headers: { ...encoded, ...ofText }, body })).status, 401)
  })

  await t.test(
    'GitHub: the old secret is still accepted, and the log says so without showing it',
    async () => {
      const body = '{"old":true}'
      assert.equal((await send('github', { headers: byGitHub(body, secrets.githubOld), body })).status, 202)
      const [line] = lines('old-secret-used')
      assert.deepEqual(
        [line?.['endpoint'], line?.['list'], line?.['position']],
        ['github', 'endpoints.github.verify', 2],
      )
    },
  )

  await t.test('GitHub: a body over the limit gets 413, even with a good signature', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(5000) })
    const { status, code } = await send('github', { headers: byGitHub(body), body })
    assert.deepEqual([status, code], [413, 'BODY_TOO_LARGE'])
  })

  await t.test('Slack: a challenge with a good signature is echoed and causes no event', async () => {
    const body = JSON.stringify({ type: 'url_verification', challenge: 'hBpoOds3uYCZ' })
    const { status, text, runId } = await send('slack', { headers: bySlack(body), body })
    assert.deepEqual([status, runId], [200, undefined])
    assert.match(text, /hBpoOds3uYCZ/)
    const [shaken] = await requests('outcome=handshake&endpoint=slack')
    assert.deepEqual([shaken?.status, shaken?.actions], [200, []])

    const forged = { ...bySlack(body), 'x-slack-signature': `v0=${'0'.repeat(64)}` }
    assert.equal((await send('slack', { headers: forged, body })).status, 401)
    assert.equal(await failureOf('slack'), 'SIGNATURE_MISMATCH')
  })

  await t.test(
    'Slack: a signature of ten minutes ago is refused, and the log says by how much it is off',
    async () => {
      const body = '{"type":"event_callback"}'
      assert.equal((await send('slack', { headers: bySlack(body, 600), body })).status, 401)
      const [newest] = await requests('outcome=refused&endpoint=slack&limit=1')
      assert.equal(newest?.failure, 'TIMESTAMP_OUTSIDE')
      assert.match(newest?.reason ?? '', /: 60\d s in the past$/)
    },
  )

  await t.test('Discord: a PING is answered, and one with a wrong signature gets 401', async () => {
    const body = JSON.stringify({ type: 1, id: '1' })
    const { status, text } = await send('discord', { headers: byDiscord(body), body })
    assert.deepEqual([status, JSON.parse(text)], [200, { type: 1 }])
    const headers = { ...byDiscord(body), 'x-signature-ed25519': '0'.repeat(128) }
    assert.equal((await send('discord', { headers, body })).status, 401)
  })

  await t.test(
    'Meta: a GET is answered with the challenge alone, and with 403 for a wrong token',
    async () => {
      const ask = (token: string) =>
        send(`meta?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}`, { method: 'GET' })
      const { status, text, headers } = await ask(secrets.verifyToken)
      assert.deepEqual([status, text], [200, '1158201444'])
      assert.match(headers.get('content-type') ?? '', /^text\/plain/)
      assert.equal((await ask('another')).status, 403)
      assert.equal(await failureOf('meta'), 'HANDSHAKE_WRONG')
      assert.equal((await send('meta', { method: 'GET' })).status, 405)
      assert.equal((await send('github', { method: 'GET' })).status, 405)
    },
  )

  await t.test('Notion: its secret is stored for the operator alone', async () => {
    const value = 'secret_c4n4ry0000000000000'
    const { status } = await send('notion', { body: JSON.stringify({ verification_token: value }) })
    assert.equal(status, 200)
    assert.equal((await send('notion', { body: '{"type":"page.created"}' })).status, 401)
    const kept = join(folder, 'data', 'stored-secrets')
    const [file = ''] = await readdir(kept)
    assert.match(await readFile(join(kept, file), 'utf8'), new RegExp(value))
    const everything = JSON.stringify(await requests('limit=500'))
    assert.doesNotMatch(everything + log(), /c4n4ry/)
  })

  await t.test(
    'Google: while its keys cannot be fetched, requests get 503, so that the sender tries again',
    async () => {
      const claims = { iss: 'https://accounts.google.com', aud: 'https://hooks.example.com' }
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const token = `${part({ alg: 'RS256', kid: 'k', typ: 'JWT' })}.${part(claims)}.AAAA`
      const { status, code, headers } = await send('gmail', {
        headers: { authorization: `Bearer ${token}` },
        body: '{"message":{"messageId":"1"}}',
      })
      assert.deepEqual([status, code, headers.get('retry-after')], [503, 'VERIFIER_UNAVAILABLE', '30'])
      assert.equal(await failureOf('gmail'), 'KEYS_UNAVAILABLE')
    },
  )

  await t.test('auth: none accepts programs on this machine and refuses web pages', async () => {
    assert.equal((await send('local', { body: '{}' })).status, 202)
    const { port } = new URL(address)
    for (const [name, value] of [
      ['origin', 'https://page.example'],
      ['sec-fetch-site', 'cross-site'],
      ['x-forwarded-for', '203.0.113.7'],
    ] as const) {
      assert.equal((await send('local', { headers: { [name]: value }, body: '{}' })).status, 401, name)
    }
    // A fetch cannot choose its host header, so the request of a page with a rebound name is written by hand.
    assert.match(await rebound(Number(port)), /^HTTP\/1\.1 401 /)
  })

  await t.test('no secret appears in the log, the answers or the admin API', async () => {
    const everything = log() + JSON.stringify(await requests('limit=500'))
    for (const secret of Object.values(secrets)) assert.ok(!everything.includes(secret))
  })
})

/** Sends what a browser sends from a web page whose name leads to this machine. */
async function rebound(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const head = [
    'POST /hooks/local HTTP/1.1',
    `Host: page.example:${port}`,
    'Content-Length: 2',
    'Connection: close',
  ]
  socket.end([...head, '', '{}'].join('\r\n'))
  return readText(socket)
}
