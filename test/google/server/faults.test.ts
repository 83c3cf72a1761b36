import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAsking } from '../client.ts'

const profile = 'gmail/gmail/v1/users/me/profile'

test('a fault hits one call of its operation, in order, and is not recorded as a mistake', async () => {
  await using asking = await openAsking()
  const { google, ask, topic } = asking
  google.fail(
    'gmail.users.getProfile',
    { status: 429, retryAfter: 7 },
    { status: 403, reason: 'userRateLimitExceeded' },
    { status: 403, reason: 'accessNotConfigured' },
    { status: 502 },
    { garbage: '<html>' },
  )
  assert.equal((await ask(`pubsub/v1/${topic}`)).status, 200)
  const quota = await ask(profile)
  assert.deepEqual([quota.status, quota.headers.get('retry-after')], [429, '7'])
  assert.deepEqual(
    [quota.body.error.status, quota.body.error.errors[0].reason],
    ['RESOURCE_EXHAUSTED', 'rateLimitExceeded'],
  )
  const forbidden = await ask(profile)
  assert.deepEqual([forbidden.status, forbidden.body.error.errors[0].reason], [403, 'userRateLimitExceeded'])
  const disabled = await ask(profile)
  assert.match(disabled.body.error.message, /^Gmail API has not been used in project harbour-lights-4711/)
  assert.equal(disabled.body.error.details[1].reason, 'SERVICE_DISABLED')
  const page = await ask(profile)
  assert.match(`${page.status} ${page.headers.get('content-type')}`, /^502 text\/html/)
  const garbage = await ask(profile)
  assert.deepEqual([garbage.status, garbage.body], [200, '<html>'])
  assert.equal((await ask(profile)).status, 200)
  assert.deepEqual(google.mistakes, [])
})

test('a fault for every operation hits the next call', async () => {
  await using asking = await openAsking()
  const { google, ask, submit, topic } = asking
  google.fail('*', { status: 503 }, { status: 500 }, { status: 400 })
  const first = await ask(`pubsub/v1/${topic}`)
  assert.deepEqual(
    [first.status, first.body.error.status, first.body.error.errors],
    [503, 'UNAVAILABLE', undefined],
  )
  assert.equal((await ask(profile)).body.error.status, 'INTERNAL')
  const {
    clientId = '',
    clientSecret = '',
    refreshToken = '',
  } = google.credentials() as Record<string, string>
  const form = {
    grant_type: 'refresh_token',
    client_id: clientId,
    client_secret: clientSecret,
    refresh_token: refreshToken,
  }
  assert.equal((await submit(form)).body.error, 'invalid_grant')
  assert.equal((await submit(form)).status, 200)
})

test('an invalid request uses up no fault', async () => {
  await using asking = await openAsking()
  const { google, ask } = asking
  google.fail('gmail.users.getProfile', { status: 503 })
  assert.equal((await ask(profile, { query: { x: '1' } })).status, 400)
  assert.equal((await ask(profile)).status, 503)
})

test('a call is cut before or after it took effect', async () => {
  await using asking = await openAsking()
  const { google, ask } = asking
  const make = (name: string) =>
    ask(`pubsub/v1/projects/${google.project}/topics/${name}`, { method: 'PUT', body: {} })
  google.fail('pubsub.projects.topics.create', { cut: 'before' }, { cut: 'after' })
  await assert.rejects(make('before'))
  await assert.rejects(make('after'))
  assert.deepEqual(
    google.resources.filter((name) => /before|after/.test(name)),
    [`projects/${google.project}/topics/after`],
  )
  assert.deepEqual(
    google.callsOf('pubsub.projects.topics.create').map(({ status, body }) => [status, body]),
    [
      [0, {}],
      [0, {}],
    ],
  )
})

test('a call hangs until its caller aborts, or is held until a test releases it', async () => {
  await using asking = await openAsking()
  const { google, ask, token } = asking
  const held = Promise.withResolvers<void>()
  google.fail('gmail.users.getProfile', { hang: true }, { until: held.promise })
  const gone = new AbortController()
  const hanging = fetch(`${google.baseUrls.gmail}/gmail/v1/users/me/profile`, {
    headers: { authorization: `Bearer ${token}` },
    signal: gone.signal,
  })
  await google.until(() => google.callsOf('gmail.users.getProfile').length === 1)
  gone.abort()
  await assert.rejects(hanging)
  const answer = ask(profile)
  await google.until(() => google.callsOf('gmail.users.getProfile').length === 2)
  assert.equal(google.calls.at(-1)?.status, 0)
  held.resolve()
  assert.equal((await answer).status, 200)
  assert.equal(google.calls.at(-1)?.status, 200)
})

test('each call is recorded with its request', async () => {
  await using asking = await openAsking()
  const { google, ask } = asking
  google.advance(5)
  await ask('gmail/gmail/v1/users/me/messages', { query: { labelIds: ['INBOX', 'UNREAD'], maxResults: '3' } })
  assert.deepEqual(google.callsOf('gmail.users.messages.list'), [
    {
      operation: 'gmail.users.messages.list',
      method: 'GET',
      path: '/gmail/gmail/v1/users/me/messages',
      query: { labelIds: ['INBOX', 'UNREAD'], maxResults: ['3'] },
      body: undefined,
      status: 200,
      at: google.now(),
    },
  ])
  assert.equal(google.callsOf('oauth.token').length, 1)
})

test('closing ends held and hanging calls, and may be repeated', async () => {
  const asking = await openAsking({ pullWait: 600_000 })
  const { google, ask, subscription } = asking
  google.fail('gmail.users.getProfile', { hang: true })
  const ends = Promise.allSettled([
    ask(profile),
    ask(`pubsub/v1/${subscription}:pull`, { body: { maxMessages: 1 } }),
  ])
  await google.until(() => google.calls.length === 3)
  await Promise.all([google.close(), google.close()])
  await ends
})
