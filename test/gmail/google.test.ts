import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { isPluginError, type PluginError, type SourceStorage } from '@reveille/kit'
import { authorizationUrl, exchange, newVerifier } from '../../plugins/gmail/google/consent.ts'
import type { Credentials } from '../../plugins/gmail/google/credentials.ts'
import { createHost } from '../../plugins/gmail/google/fixture.ts'
import { readNotification } from '../../plugins/gmail/google/notification.ts'
import { openGoogle } from '../../plugins/gmail/google/open.ts'
import { createFakeGoogle, type Fault } from '../google/index.ts'

const role = 'roles/pubsub.publisher'
const member = 'serviceAccount:gmail-api-push@system.gserviceaccount.com'

/** Opens Google as the plugin does, with the fake Google at the other end. */
async function open(credentials?: (usual: Credentials) => Partial<Credentials>) {
  const fake = await createFakeGoogle({ now: Date.parse('2026-01-15T12:00:00Z'), pullWait: 20 })
  const given = fake.credentials() as Credentials
  const { disk, storage, fetch, signal } = createHost()
  const clock = { now: fake.now, sleep: () => Promise.reject(new Error('nothing here sleeps')) }
  const { baseUrls } = fake
  const google = openGoogle({
    credentials: { ...given, ...credentials?.(given) },
    storage,
    baseUrls,
    fetch,
    clock,
  })
  async function failureOf(promise: Promise<unknown>): Promise<PluginError> {
    const [outcome] = await Promise.allSettled([promise])
    assert.ok(outcome.status === 'rejected', 'it fails')
    const error = outcome.reason
    assert.ok(isPluginError(error), inspect(error))
    const text = inspect(error, { depth: 20, showHidden: true, maxStringLength: null })
    const { clientSecret, refreshToken } = given
    const { accessToken } = (disk.get('credentials') ?? {}) as Partial<Credentials>
    for (const secret of [clientSecret, refreshToken, accessToken, 'Bearer ']) {
      assert.ok(secret === undefined || !text.includes(secret), text)
    }
    return error
  }
  return { fake, disk, ...google, signal, fetch, clock, failureOf, [Symbol.asyncDispose]: fake.close }
}

test('mail is watched, announced, found in the history, fetched and acknowledged', async () => {
  await using bed = await open()
  const { fake, gmail, pubsub, signal, disk } = bed
  const { topic, subscription } = fake.prepare()
  assert.equal((await gmail.profile(signal)).emailAddress, fake.account)
  assert.ok((await gmail.labels(signal)).some(({ id, name }) => id === 'INBOX' && name === 'INBOX'))
  const { historyId: since, endsAt } = await gmail.watch({ topic, labelId: 'INBOX' }, signal)
  assert.equal(endsAt, fake.watch?.endsAt)

  const ids = fake.deliverMany(3, (index) => ({ subject: `Mail ${index}`, text: `Text ${index}` }))
  fake.deliver({ labels: ['SPAM'] })
  const notifications = await pubsub.pull(subscription, 10, signal)
  assert.ok(notifications.every(({ ackId, about }) => ackId && about?.emailAddress === fake.account))
  const page = await gmail.history({ since, labelId: 'INBOX' }, signal)
  assert.deepEqual(page.messageIds, ids)
  const historyIds = notifications.map(({ about }) => BigInt(about?.historyId ?? 0))
  assert.ok(historyIds.every((each) => each >= BigInt(since) && each <= BigInt(page.historyId)))
  const rest = await gmail.history({ since: page.lastId ?? '', labelId: 'INBOX' }, signal)
  assert.deepEqual([rest.messageIds, rest.lastId], [[], undefined])

  const ackIds = notifications.flatMap(({ ackId }) => ackId ?? [])
  await pubsub.extend(subscription, ackIds, 120, signal)
  await pubsub.acknowledge(subscription, ackIds, signal)
  assert.equal(fake.unacknowledged, 0)
  assert.deepEqual(await pubsub.pull(subscription, 10, signal), [])

  const [id = ''] = ids
  const full = await gmail.message(id, { text: true }, signal)
  const lean = await gmail.message(id, { text: false }, signal)
  assert.match(JSON.stringify(full), new RegExp(Buffer.from('Text 0').toString('base64url').slice(0, 7)))
  assert.deepEqual([lean?.snippet, lean?.payload?.body?.data], [full?.snippet, undefined])
  fake.remove(id)
  assert.equal(await gmail.message(id, { text: true }, signal), undefined)

  const listed = await gmail.list({ labelId: 'INBOX', after: fake.now() - 1000, max: 1 }, signal)
  assert.deepEqual(listed.messageIds, [ids[2]])
  assert.ok(listed.nextPageToken)
  const request = { labelId: 'INBOX', after: fake.now() - 1000, max: 9, pageToken: listed.nextPageToken }
  assert.deepEqual((await gmail.list(request, signal)).messageIds, [ids[1]])

  assert.equal(fake.callsOf('oauth.token').length, 1)
  assert.ok((disk.get('credentials') as Credentials).accessToken)
  assert.deepEqual(fake.mistakes, [])
})

test('a long history comes in pages, and an expired one has its own error', async () => {
  await using bed = await open()
  const { fake, gmail, signal } = bed
  const { historyId: since } = await gmail.profile(signal)
  const ids = fake.deliverMany(600)
  const found: string[] = []
  let pageToken: string | undefined
  do {
    const page = await gmail.history({ since, labelId: 'INBOX', pageToken }, signal)
    found.push(...page.messageIds)
    pageToken = page.nextPageToken
  } while (pageToken !== undefined)
  assert.deepEqual(found, ids)
  assert.equal(fake.callsOf('gmail.users.history.list').length, 2)
  fake.expireHistory()
  assert.equal(
    (await bed.failureOf(gmail.history({ since, labelId: 'INBOX' }, signal))).code,
    'history-expired',
  )
  assert.deepEqual(fake.mistakes, [])
})

test('topic, role and subscription are made, found and changed', async () => {
  await using bed = await open()
  const { fake, gmail, pubsub, signal } = bed
  const topic = `projects/${fake.project}/topics/mail`
  const name = `projects/${fake.project}/subscriptions/mail`
  assert.equal(await pubsub.topic(topic, signal), undefined)
  await pubsub.createTopic(topic, signal)
  await pubsub.createTopic(topic, signal)
  assert.deepEqual(await pubsub.topic(topic, signal), { name: topic })

  const refused = await bed.failureOf(gmail.watch({ topic, labelId: 'INBOX' }, signal))
  assert.equal(refused.code, 'forbidden')
  assert.equal(await pubsub.grant(topic, role, member, signal), 'granted')
  assert.equal(await pubsub.grant(topic, role, member, signal), 'had')
  assert.deepEqual(fake.roles[role], [member])
  await gmail.watch({ topic, labelId: 'INBOX' }, signal)

  assert.equal(await pubsub.subscription(name, signal), undefined)
  await pubsub.createSubscription({ name, topic, ackDeadline: 60 }, signal)
  assert.deepEqual(await pubsub.subscription(name, signal), { name, topic, ackDeadline: 60 })
  assert.equal(
    (await bed.failureOf(pubsub.createSubscription({ name, topic, ackDeadline: 60 }, signal))).code,
    'exists',
  )
  const push = {
    endpoint: 'https://hooks.example.com/hooks/gmail/push',
    serviceAccount: `push@${fake.project}.iam.gserviceaccount.com`,
    audience: 'reveille',
  }
  await pubsub.changePush(name, push, signal)
  assert.deepEqual((await pubsub.subscription(name, signal))?.push, push)
  await pubsub.changePush(name, undefined, signal)
  assert.equal((await pubsub.subscription(name, signal))?.push, undefined)
  assert.deepEqual(fake.mistakes, [])
})

test('a role that another process is changing too is granted in the second attempt', async () => {
  await using bed = await open()
  const { fake, pubsub, signal } = bed
  const { topic } = fake.prepare()
  fake.setRole(false)
  fake.fail('pubsub.projects.topics.setIamPolicy', { status: 409 })
  assert.equal(await pubsub.grant(topic, role, member, signal), 'granted')
  assert.deepEqual(fake.roles[role], [member])
})

test('void tokens are renewed, and a withdrawn consent has its own error', async () => {
  await using bed = await open()
  const { fake, gmail, signal } = bed
  await gmail.profile(signal)
  fake.expireAccessTokens()
  await Promise.all(Array.from({ length: 20 }, () => gmail.labels(signal)))
  assert.equal(fake.callsOf('oauth.token').length, 2)
  fake.advance(3_600_000)
  await gmail.profile(signal)
  assert.equal(fake.callsOf('oauth.token').length, 3)
  assert.equal(
    fake.callsOf('gmail.users.getProfile').at(-1)?.status,
    200,
    'it was renewed before it was refused',
  )
  fake.revoke()
  const error = await bed.failureOf(gmail.profile(signal))
  assert.deepEqual([error.code, error.retryable], ['consent-revoked', false])
  assert.deepEqual(fake.mistakes, [])
})

test('each failure of a call has its code, and the port makes no retry', async () => {
  await using bed = await open()
  const { fake, gmail, pubsub, signal } = bed
  const { subscription } = fake.prepare()
  await gmail.profile(signal)
  const cases: readonly (readonly [Fault, string, boolean, number?])[] = [
    [{ status: 429, retryAfter: 9 }, 'rate-limited', true, 9],
    [{ status: 403, reason: 'userRateLimitExceeded' }, 'rate-limited', true],
    [{ status: 403, reason: 'dailyLimitExceeded' }, 'rate-limited', true],
    [{ status: 403, reason: 'accessNotConfigured' }, 'api-disabled', false],
    [{ status: 403, reason: 'insufficientPermissions' }, 'missing-scope', false],
    [{ status: 403 }, 'forbidden', false],
    [{ status: 404 }, 'not-found', false],
    [{ status: 500 }, 'unavailable', true],
    [{ status: 502 }, 'unavailable', true],
    [{ status: 503, retryAfter: 3 }, 'unavailable', true, 3],
    [{ cut: 'before' }, 'network', true],
    [{ cut: 'after' }, 'network', true],
    [{ garbage: '<html>Welcome' }, 'malformed', true],
  ]
  const asks = [
    ['gmail.users.getProfile', () => gmail.profile(signal)],
    ['pubsub.projects.subscriptions.pull', () => pubsub.pull(subscription, 1, signal)],
  ] as const
  for (const [operation, ask] of asks) {
    for (const [fault, code, retryable, retryAfter] of cases) {
      const before = fake.calls.length
      fake.fail(operation, fault)
      const error = await bed.failureOf(ask())
      const facts = [error.code, error.retryable, error.retryAfter]
      assert.deepEqual(facts, [code, retryable, retryAfter], `${operation} ${JSON.stringify(fault)}`)
      assert.equal(fake.calls.length, before + 1)
    }
    await ask()
  }
  fake.fail('gmail.users.getProfile', { status: 400, reason: 'failedPrecondition' })
  assert.equal((await bed.failureOf(gmail.profile(signal))).code, 'forbidden')
  fake.fail('pubsub.projects.subscriptions.pull', { status: 504 })
  assert.deepEqual(await pubsub.pull(subscription, 1, signal), [])
})

test('an unknown OAuth client is another error than a withdrawn consent', async () => {
  await using bed = await open(() => ({ clientSecret: 'GOCSPX-of-another-client' }))
  const error = await bed.failureOf(bed.gmail.profile(bed.signal))
  assert.deepEqual([error.code, error.retryable], ['bad-client', false])
})

test('a person consents on the page, and the code gives working tokens once', async () => {
  await using bed = await open()
  const { fake, fetch, clock, signal } = bed
  const { clientId, clientSecret } = fake.credentials() as Credentials
  const { baseUrls } = fake
  const { verifier, challenge } = await newVerifier()
  const redirectUri = 'http://127.0.0.1:50123'
  const page = { clientId, baseUrls, redirectUri, state: 'the-state', challenge, loginHint: fake.account }
  const redirected = new URL(await fake.consentByHand(authorizationUrl(page)))
  assert.equal(redirected.searchParams.get('state'), 'the-state')
  const code = redirected.searchParams.get('code') ?? ''
  const client = { id: clientId, secret: clientSecret }
  const request = { client, code, verifier, redirectUri, baseUrls, fetch, clock, signal }
  const { scopes, ...tokens } = await exchange(request)
  assert.equal(scopes.length, 2)
  const credentials = { account: fake.account, clientId, clientSecret, scopes, ...tokens }
  const storage: SourceStorage = {
    read: async () => undefined,
    write: () => assert.fail('nothing is renewed'),
  }
  const google = openGoogle({ credentials, storage, baseUrls, fetch, clock })
  assert.equal((await google.gmail.profile(signal)).emailAddress, fake.account)
  assert.deepEqual(fake.mistakes, [])
  assert.equal((await bed.failureOf(exchange(request))).code, 'bad-code')
})

test('a posted notification is read like a pulled one', () => {
  const data = Buffer.from('{"emailAddress":"ada@example.com","historyId":4711}').toString('base64')
  assert.deepEqual(
    readNotification({ message: { data, messageId: '1' }, subscription: 'projects/p/subscriptions/s' }),
    {
      messageId: '1',
      about: { emailAddress: 'ada@example.com', historyId: '4711' },
    },
  )
})
