/** Tests pushes to a source: permission, waiting time, replies, records and logs. */

import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createCompiler, loadConfiguration } from '@reveille/engine'
import { PluginError } from '@reveille/kit'
import { createFolder } from '../../../test/installation.ts'
import type { PushHandler } from '../index.ts'
import { bearer, openSurface, type SnapshotOptions, type SurfaceFixture } from '../surface-fixture.ts'
import { maxInProgress } from './push-handling.ts'

const endpoint = 'gmail/push'
const notification = { message: { data: 'e30=', messageId: '7' }, subscription: 'projects/p/subscriptions/s' }

/** A surface on which a source takes over `gmail/push`. */
async function openTaken(t: TestContext, pushHandler: PushHandler, options: SnapshotOptions = {}) {
  const state: { pushHandler: PushHandler | undefined } = { pushHandler }
  const surface = await openSurface(t, {
    sources: { gmail: {} },
    ...options,
    pushHandlerOf: (name) => (name === endpoint ? state.pushHandler : undefined),
  })
  return { ...surface, state: Object.assign(surface.state, { taking: state }) }
}

async function send({ dial }: SurfaceFixture, headers: Readonly<Record<string, string>>, body: string) {
  const sender = await dial()
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = ['host: hooks.example.com', `content-length: ${Buffer.byteLength(body)}`, 'connection: close']
  sender.send(`POST /hooks/${endpoint} HTTP/1.1`, ...head, ...lines, '', body)
  return sender
}

async function answerTo(
  surface: SurfaceFixture,
  headers: Readonly<Record<string, string>> = bearer,
  body = JSON.stringify(notification),
) {
  const text = await (await send(surface, headers, body)).closed()
  const [head = '', payload = ''] = text.split('\r\n\r\n')
  const retryAfter = /^retry-after: (\d+)/m.exec(head)?.[1]
  const { code, error } = payload === '' ? {} : JSON.parse(payload)
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), code, error, retryAfter, text }
}

test('a request to an endpoint that a source has taken over goes to the source, and no further', async (t) => {
  const received: unknown[] = []
  const surface = await openTaken(t, async (body) => void received.push(body), { bodies: 'all' })
  const { status, text } = await answerTo(surface)
  assert.equal(status, 204)
  assert.match(text, /\r\n\r\n$/)
  assert.match(text, /^x-request-id: /m)
  assert.doesNotMatch(text, /^content-length/m)
  assert.deepEqual(received, [notification])
  const { noted, resolved, entries, ignored, lines } = surface
  assert.deepEqual([resolved, entries, ignored], [[], [], []])
  const [note] = noted
  assert.deepEqual(
    [note?.outcome, note?.status, note?.endpoint, note?.reason, note?.body, note?.head],
    ['handshake', 204, endpoint, 'a source took it', undefined, undefined],
  )
  const line = await lines.line('request-handshake')
  assert.deepEqual([line['status'], line['endpoint'], line['client']], [204, endpoint, '127.0.0.1'])
})

test('a running source wins over mappings; without it mappings decide, and an unmatched request has to come again', async (t) => {
  const resolve: SnapshotOptions['resolve'] = ({ payload }) =>
    (payload as { wanted?: boolean }).wanted
      ? { outcome: 'accepted', actions: [] }
      : { outcome: 'ignored', reason: 'no mapping' }
  const surface = await openTaken(t, async () => {}, { resolve })
  const { live, taking } = surface.state
  surface.state.live = { ...live, snapshot: { ...live.snapshot, covers: () => true } }
  assert.equal((await answerTo(surface)).status, 204)
  assert.deepEqual(surface.resolved, [])
  taking.pushHandler = undefined
  assert.equal((await answerTo(surface, bearer, '{"wanted":true}')).status, 200)
  const { status, code, retryAfter } = await answerTo(surface)
  assert.deepEqual([status, code, retryAfter], [503, 'RECEIVER_FAILED', '10'])
  assert.equal(surface.noted.at(-1)?.reason, 'the source gmail, whose it is, does not run')
  assert.deepEqual(surface.ignored, [])
  surface.state.live = live
  assert.deepEqual((await answerTo(surface)).code, 'NOT_FOUND')
})

test('an unmatched request to an endpoint without a source is ignored', async (t) => {
  const surface = await openTaken(t, async () => {}, {
    resolve: () => ({ outcome: 'ignored', reason: 'no mapping' }),
  })
  for (const name of ['github', 'a/b']) assert.equal((await surface.post(name, {})).status, 200)
})

test('when a source fails, its sender gets 503 without the reason', async (t) => {
  const state = { error: new TypeError('the mailbox of ada@example.com') as Error }
  const surface = await openTaken(t, () => Promise.reject(state.error))
  const first = await answerTo(surface)
  assert.deepEqual([first.status, first.code, first.retryAfter], [503, 'RECEIVER_FAILED', '10'])
  assert.doesNotMatch(first.text, /ada@example/)
  assert.equal(surface.noted[0]?.outcome, 'refused')
  const line = surface.lines.all.find(({ level }) => level === 'error')
  assert.equal((line?.['err'] as { type: string } | undefined)?.type, 'TypeError')
  assert.doesNotMatch(JSON.stringify(surface.lines.all), /ada@example/)

  state.error = new PluginError('Gmail asks to wait.', { code: 'rate-limited', retryable: true })
  const second = await answerTo(surface)
  assert.deepEqual([second.status, second.code, second.error], [503, 'RECEIVER_FAILED', first.error])
  assert.equal(surface.noted[1]?.reason, 'Gmail asks to wait.')
  assert.equal(surface.lines.all.at(-1)?.level, 'warn')
})

test('a source that throws synchronously fails the same way', async (t) => {
  const surface = await openTaken(t, () => {
    throw new Error('at once')
  })
  assert.equal((await answerTo(surface)).code, 'RECEIVER_FAILED')
})

test('a source is given JSON alone, within the size limit of the endpoint', async (t) => {
  const surface = await openTaken(t, () => assert.fail('it was asked'))
  const form = { ...bearer, 'content-type': 'application/x-www-form-urlencoded' }
  for (const [headers, body, code] of [
    [bearer, '{', 'INVALID_JSON'],
    [bearer, '', 'INVALID_JSON'],
    [form, 'a=1', 'INVALID_JSON'],
    [bearer, JSON.stringify('x'.repeat(1100)), 'BODY_TOO_LARGE'],
    [{}, '{}', 'UNAUTHORIZED'],
    [{ authorization: 'Bearer wrong' }, '{}', 'UNAUTHORIZED'],
  ] as const) {
    assert.equal((await answerTo(surface, headers, body)).code, code)
  }
  surface.state.full = true
  assert.equal((await answerTo(surface)).code, 'BACKLOG')
})

test('a source that takes more than five minutes makes its sender come again', async (t) => {
  const surface = await openTaken(t, () => new Promise(() => {}))
  const sender = await send(surface, bearer, '{}')
  await surface.timers.armed()
  surface.timers.fire()
  assert.match(await sender.received('RECEIVER_FAILED'), /^HTTP\/1\.1 503 /)
  assert.equal(surface.noted[0]?.reason, 'the source was not done within 300 s')
})

test('a drain ends the waits for a source, and refuses further requests', async (t) => {
  const receiving = Promise.withResolvers<void>()
  const surface = await openTaken(t, () => {
    receiving.resolve()
    return new Promise(() => {})
  })
  const sender = await send(surface, bearer, '{}')
  await receiving.promise
  surface.draining.abort()
  assert.match(await sender.closed(), /^HTTP\/1\.1 503 [\s\S]*"DRAINING"/)
  assert.equal((await answerTo(surface)).code, 'DRAINING')
  assert.equal(surface.timers.running, 0)
})

test('a sender that goes away gets no reply, and the source goes on', async (t) => {
  const receiving = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const surface = await openTaken(t, () => {
    receiving.resolve()
    return release.promise
  })
  const sender = await send(surface, bearer, '{}')
  await receiving.promise
  sender.socket.destroy()
  await surface.lines.line('sender-gone')
  assert.equal(surface.timers.running, 0)
  release.resolve()
  assert.deepEqual(surface.noted, [])
})

test('a source handles a hundred requests of an endpoint at most, and is given more as they end', async (t) => {
  const releases: (() => void)[] = []
  const all = Promise.withResolvers<void>()
  const surface = await openTaken(t, () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    releases.push(resolve)
    if (releases.length === maxInProgress) all.resolve()
    return promise
  })
  const post = () =>
    surface.app.inject({ method: 'POST', url: `/hooks/${endpoint}`, headers: bearer, payload: '{}' })
  const waiting = Array.from({ length: maxInProgress }, post)
  await all.promise
  assert.equal((await post()).json().code, 'RECEIVER_FAILED')
  assert.equal(surface.noted[0]?.reason, 'the source has too many to do')
  // Their senders have to come again, but the source is still at work.
  surface.timers.fire()
  for (const answer of await Promise.all(waiting)) assert.equal(answer.statusCode, 503)
  assert.equal((await post()).json().code, 'RECEIVER_FAILED')
  assert.ok(releases.length === maxInProgress)
  for (const release of releases.splice(0)) release()
  const again = post()
  while (releases.at(0) === undefined) await new Promise(setImmediate)
  releases[0]?.()
  assert.equal((await again).statusCode, 204)
})

const account = 'push@p.iam.gserviceaccount.com'
const audience = 'https://hooks.example.com/hooks/gmail/push'
const google = generateKeyPairSync('rsa', { modulusLength: 2048 })
const forger = generateKeyPairSync('rsa', { modulusLength: 2048 })

const hookToken = 'hook-token-9f2c77b1e04d4a6c8e35'

const configuration = `
hooks:
  enabled: true
  token: ${hookToken}
  gmail: { account: ada@example.com, mode: push }
  endpoints:
    gmail/push: { verify: { provider: google-pubsub, audience: "${audience}", serviceAccount: ${account} } }
`

/** https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions */
function tokenOf(now: number, key: KeyObject, claims: object = {}): string {
  const seconds = now / 1000
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const base = { iss: 'https://accounts.google.com', aud: audience, email: account, email_verified: true }
  const text = `${encode({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${encode({ ...base, iat: seconds, exp: seconds + 3600, ...claims })}`
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

test("a push with Google's token is accepted, although no mapping covers the endpoint", async (t) => {
  const folder = await createFolder(t, { 'reveille.yaml': configuration })
  const loaded = await loadConfiguration({ file: join(folder, 'reveille.yaml'), env: {} })
  assert.ok(loaded.ok, JSON.stringify(loaded))
  assert.deepEqual(loaded.configuration.warnings, [])
  const catalog = { channels: [], runners: ['echo'] }
  const compiled = await createCompiler({
    randomness: { mint: () => 'id', randomId: () => 'fence' },
  }).compile(loaded.configuration, catalog)
  assert.ok(compiled.ok)
  const received: unknown[] = []
  const keys = [{ ...google.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }]
  const surface = await openSurface(t, {
    pushHandlerOf: (name) => (name === endpoint ? async (body) => void received.push(body) : undefined),
    verifyDependencies: {
      download: async () => JSON.stringify({ keys }),
    },
  })
  surface.state.live = { generation: 1, snapshot: compiled.snapshot }
  const { now } = surface.state
  const push = (jwt: string) => answerTo(surface, { authorization: `Bearer ${jwt}` })

  assert.equal((await push(tokenOf(now, google.privateKey))).status, 204)
  assert.deepEqual(received.splice(0), [notification])
  for (const [jwt, failure] of [
    [tokenOf(now, forger.privateKey), 'SIGNATURE_MISMATCH'],
    [tokenOf(now, google.privateKey, { email: 'other@p.iam.gserviceaccount.com' }), 'WRONG_SENDER'],
    [tokenOf(now, google.privateKey, { aud: 'https://other.example.com' }), 'WRONG_AUDIENCE'],
    [tokenOf(now - 7_200_000, google.privateKey), 'TOKEN_EXPIRED'],
    [hookToken, 'SIGNATURE_MISSING'],
  ] as const) {
    const { status, code } = await push(jwt)
    assert.deepEqual([status, code], [401, 'UNAUTHORIZED'])
    assert.equal(surface.noted.at(-1)?.failure, failure)
  }
  assert.equal((await answerTo(surface, {})).status, 401)
  assert.deepEqual(received, [])
})
