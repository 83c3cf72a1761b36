import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertNoSecret,
  credentials,
  failureOf,
  gmailError,
  openScripted,
  secrets,
  start,
  tokens,
} from './fixture.ts'

const profile = { body: { emailAddress: 'ada@example.com', historyId: '4711' } }
const route = 'GET /gmail/v1/users/me/profile'
const unauthorized = gmailError(401, 'authError', 'Invalid Credentials')

test('a stored access token is used while it is good for more than a minute', async () => {
  await using google = await openScripted({ [route]: [profile] })
  google.time.now = start + 3_600_000 - 60_001
  assert.deepEqual(await google.gmail.profile(google.signal), profile.body)
  assert.deepEqual(
    google.calls.map(({ path, authorization }) => [path, authorization]),
    [['/gmail/v1/users/me/profile', `Bearer ${secrets.access}`]],
  )
})

test('a token that ends within a minute by the given clock is renewed first', async () => {
  await using google = await openScripted({ [route]: [profile], 'POST /token': [tokens('ya29.second')] })
  google.time.now = start + 3_600_000 - 60_000
  await google.gmail.profile(google.signal)
  const [renewal, call] = google.calls
  assert.deepEqual(Object.fromEntries(new URLSearchParams(String(renewal?.body))), {
    refresh_token: secrets.refresh,
    client_id: credentials.clientId,
    client_secret: secrets.client,
    grant_type: 'refresh_token',
  })
  assert.equal(call?.authorization, 'Bearer ya29.second')
  assert.deepEqual(google.disk.get('credentials'), {
    ...credentials,
    accessToken: 'ya29.second',
    accessTokenExpiresAt: google.time.now + 3_599_000,
  })
})

test('a token without an end, or with characters that no header allows, is not used', async () => {
  for (const stored of [
    { accessTokenExpiresAt: undefined },
    { accessToken: undefined },
    { accessToken: 'a\nb' },
  ]) {
    await using google = await openScripted(
      { [route]: [profile], 'POST /token': [tokens('ya29.second')] },
      { credentials: stored },
    )
    await google.gmail.profile(google.signal)
    assert.deepEqual(
      google.calls.map(({ path }) => path),
      ['/token', '/gmail/v1/users/me/profile'],
    )
  }
})

test('many calls that find the token expired cause one renewal', async () => {
  const gate = Promise.withResolvers<void>()
  await using google = await openScripted(
    {
      [route]: [profile],
      'POST /token': [{ ...tokens('ya29.second'), after: gate.promise }, tokens('ya29.third')],
    },
    { credentials: { accessToken: undefined } },
  )
  const calls = Array.from({ length: 30 }, () => google.gmail.profile(google.signal))
  await google.reached(1)
  gate.resolve()
  await Promise.all(calls)
  assert.equal(google.callsOf('/token').length, 1)
  assert.deepEqual(
    [...new Set(google.callsOf('/profile').map((call) => call.authorization))],
    ['Bearer ya29.second'],
  )
  assert.equal(google.state.writes, 1)
})

test('calls whose token is refused renew it once and are repeated once', async () => {
  const gate = Promise.withResolvers<void>()
  const refused = { ...unauthorized, after: gate.promise }
  await using google = await openScripted({
    [route]: [refused, refused, refused, profile],
    'POST /token': [tokens('ya29.second'), tokens('ya29.third')],
  })
  const calls = Array.from({ length: 3 }, () => google.gmail.profile(google.signal))
  await google.reached(3)
  gate.resolve()
  await Promise.all(calls)
  assert.equal(google.callsOf('/token').length, 1)
  assert.equal(google.callsOf('/profile').length, 6)
})

test('when a fresh token is refused, the consent counts as revoked and no third call is made', async () => {
  await using google = await openScripted({ [route]: [unauthorized], 'POST /token': [tokens('ya29.second')] })
  const error = await failureOf(google.gmail.profile(google.signal))
  assert.deepEqual([error.code, error.retryable], ['consent-revoked', false])
  assert.match(error.message, /Run `reveille webhooks gmail setup`/)
  assert.equal(google.callsOf('/profile').length, 2)
})

test('a fresh token that expired while the machine slept is renewed again and does not count as a revoked consent', async () => {
  const gate = Promise.withResolvers<void>()
  await using google = await openScripted({
    [route]: [unauthorized, { ...unauthorized, after: gate.promise }, profile],
    'POST /token': [tokens('ya29.second'), tokens('ya29.third')],
  })
  const call = google.gmail.profile(google.signal)
  await google.reached(3)
  google.time.now += 7_200_000
  gate.resolve()
  assert.deepEqual(await call, profile.body)
  assert.equal(google.calls.at(-1)?.authorization, 'Bearer ya29.third')
})

test('a 401 that does not come from Google does not count as a revoked consent', async () => {
  const portal = { status: 401, raw: '<h1>Sign in to the network</h1>' }
  await using google = await openScripted({ [route]: [portal], 'POST /token': [tokens('ya29.second')] })
  const error = await failureOf(google.gmail.profile(google.signal))
  assert.deepEqual([error.code, error.retryable], ['malformed', true])
})

test('a new refresh token is on disk before it is used', async () => {
  await using google = await openScripted(
    {
      [route]: [profile],
      'POST /token': [tokens('ya29.second', { refresh_token: '1//second' }), tokens('ya29.third')],
    },
    { credentials: { accessToken: undefined } },
  )
  google.state.isFull = true
  await google.gmail.profile(google.signal)
  assert.equal(google.disk.has('credentials'), false, 'the call wanted nothing of the disk')

  google.time.now += 3_600_000
  const error = await failureOf(google.gmail.profile(google.signal))
  assert.deepEqual([error.code, error.retryable], ['kept-failed', true])
  assert.equal(google.callsOf('/token').length, 1, 'the new one was not used')

  google.state.isFull = false
  await google.gmail.profile(google.signal)
  const used = google
    .callsOf('/token')
    .map((call) => new URLSearchParams(String(call.body)).get('refresh_token'))
  assert.deepEqual(used, [secrets.refresh, '1//second'])
  assert.partialDeepStrictEqual(google.disk.get('credentials'), {
    refreshToken: '1//second',
    accessToken: 'ya29.third',
  })
})

test('a renewed token that could not be written is written with the next call', async () => {
  await using google = await openScripted(
    { [route]: [profile], 'POST /token': [tokens('ya29.second')] },
    { credentials: { accessToken: undefined } },
  )
  google.state.isFull = true
  await google.gmail.profile(google.signal)
  google.state.isFull = false
  await google.gmail.profile(google.signal)
  assert.partialDeepStrictEqual(google.disk.get('credentials'), { accessToken: 'ya29.second' })
  await google.gmail.profile(google.signal)
  assert.equal(google.state.writes, 1)
})

test('a consent that setup stored meanwhile is not overwritten', async () => {
  await using google = await openScripted(
    { [route]: [profile], 'POST /token': [tokens('ya29.second')] },
    { credentials: { accessToken: undefined } },
  )
  const newer = { ...credentials, refreshToken: '1//of-a-second-setup' }
  google.disk.set('credentials', newer)
  await google.gmail.profile(google.signal)
  await google.gmail.profile(google.signal)
  assert.deepEqual(google.disk.get('credentials'), newer)
  assert.equal(google.callsOf('/token').length, 1)
})

test('each refusal of the token server becomes an error that says what to do', async () => {
  const over = { credentials: { accessToken: undefined } }
  const cases = [
    [
      400,
      'invalid_grant',
      'consent-revoked',
      false,
      /no longer accepts the consent of ada@example\.com: .*after a week\. Run `/,
    ],
    [401, 'invalid_client', 'bad-client', false, /the OAuth client/],
    [400, 'unauthorized_client', 'bad-client', false, /the OAuth client/],
    [401, 'deleted_client', 'bad-client', false, /The OAuth client was deleted/],
    [400, 'invalid_scope', 'missing-scope', false, /every box ticked/],
    [400, 'admin_policy_enforced', 'forbidden', false, /admin_policy_enforced/],
    [429, 'rate_limit_exceeded', 'rate-limited', true, /fewer calls/],
    [500, 'internal_failure', 'unavailable', true, /cannot answer now \(500\)/],
    [503, undefined, 'unavailable', true, /cannot answer now \(503\)/],
    [404, undefined, 'malformed', true, /`baseUrls\.oauth`/],
  ] as const
  for (const [status, error, code, retryable, words] of cases) {
    const description = `The OAuth client was deleted; it said ${secrets.refresh} and ${secrets.client}.`
    const body = error && { error, error_description: description }
    const headers = { 'retry-after': '7' }
    await using google = await openScripted({ 'POST /token': [{ status, body, headers }] }, over)
    const failure = await failureOf(google.gmail.profile(google.signal))
    assert.deepEqual([failure.code, failure.retryable], [code, retryable], `${status} ${error}`)
    assert.match(failure.message, words)
    assert.equal(failure.retryAfter, ['rate-limited', 'unavailable'].includes(code) ? 7 : undefined)
    assert.equal(google.calls.length, 1, 'nothing is tried again here')
  }
})

test('malformed tokens are not used, and the next call tries again', async () => {
  const bodies = [
    '<html>',
    '"ya29.second"',
    '[]',
    '{}',
    '{"access_token": 7, "expires_in": 3599}',
    '{"access_token": "a b", "expires_in": 3599}',
    '{"access_token": "ya29.second"}',
    '{"access_token": "ya29.second", "expires_in": "soon"}',
    '{"access_token": "ya29.second", "expires_in": -1}',
    '{"access_token": "ya29.second", "expires_in": 3599, "token_type": "MAC"}',
    '{"access_token": "ya29.second", "expires_in": 3599, "refresh_token": 7}',
  ]
  for (const raw of bodies) {
    await using google = await openScripted(
      { [route]: [profile], 'POST /token': [{ raw }] },
      { credentials: { accessToken: undefined } },
    )
    const error = await failureOf(google.gmail.profile(google.signal))
    assert.deepEqual([error.code, error.retryable], ['malformed', true], raw)
    assert.equal(google.disk.size, 0)
  }
})

test('a caller that aborts ends neither the renewal nor the wait of other callers', async () => {
  const gate = Promise.withResolvers<void>()
  await using google = await openScripted(
    { [route]: [profile], 'POST /token': [{ ...tokens('ya29.second'), after: gate.promise }] },
    { credentials: { accessToken: undefined } },
  )
  const abort = new AbortController()
  const reason = new Error('called off')
  const first = google.gmail.profile(abort.signal)
  const second = google.gmail.profile(google.signal)
  await google.reached(1)
  abort.abort(reason)
  await assert.rejects(first, (error) => error === reason)
  gate.resolve()
  await second
  assert.equal(google.callsOf('/token').length, 1)
})

test('a failed renewal fails all callers that wait for it, and the next call renews again', async () => {
  await using google = await openScripted(
    { [route]: [profile], 'POST /token': [{ ...tokens('ya29.second'), cut: true }, tokens('ya29.third')] },
    { credentials: { accessToken: undefined } },
  )
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => google.gmail.profile(google.signal)))
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code),
    ['network', 'network', 'network'],
  )
  assertNoSecret(outcomes)
  await google.gmail.profile(google.signal)
})
