import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertNoSecret,
  credentials,
  fails,
  gmailError,
  type OpenOptions,
  openScripted,
  type Step,
  secrets,
  start,
  tokens,
} from './fixture.ts'

const profile = { body: { emailAddress: 'ada@example.com', historyId: '4711' } }
const unauthorized = gmailError(401, 'authError', 'Invalid Credentials')
const [second, third] = [tokens('ya29.second'), tokens('ya29.third')]

/** Opens Google with these answers of the token server, and of the profile, which needs a token. */
function openRenewing(
  renewals: readonly Step[],
  profiles: readonly Step[] = [profile],
  options?: OpenOptions,
) {
  return openScripted({ 'GET /gmail/v1/users/me/profile': profiles, 'POST /token': renewals }, options)
}

/** Does the same without an access token, so that the first call renews it. */
function openExpired(...renewals: readonly Step[]) {
  return openRenewing(renewals, undefined, { credentials: { accessToken: undefined } })
}

test('a stored access token is used while it is good for more than a minute', async () => {
  await using google = await openRenewing([])
  google.time.now = start + 3_600_000 - 60_001
  assert.deepEqual(await google.profile(), profile.body)
  const calls = google.calls.map(({ path, authorization }) => [path, authorization])
  assert.deepEqual(calls, [['/gmail/v1/users/me/profile', `Bearer ${secrets.access}`]])
})

test('a token that ends within a minute by the given clock is renewed first', async () => {
  await using google = await openRenewing([second])
  google.time.now = start + 3_600_000 - 60_000
  await google.profile()
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

for (const [what, stored] of [
  ['without an end', { accessTokenExpiresAt: undefined }],
  ['that is missing', { accessToken: undefined }],
  ['with characters that no header allows', { accessToken: 'a\nb' }],
] as const)
  test(`a token ${what} is not used`, async () => {
    await using google = await openRenewing([second], undefined, { credentials: stored })
    await google.profile()
    const paths = google.calls.map(({ path }) => path)
    assert.deepEqual(paths, ['/token', '/gmail/v1/users/me/profile'])
  })

test('many calls that find the token expired cause one renewal', async () => {
  const gate = Promise.withResolvers<void>()
  await using google = await openExpired({ ...second, after: gate.promise }, third)
  const calls = Array.from({ length: 30 }, () => google.profile())
  await google.reached(1)
  gate.resolve()
  await Promise.all(calls)
  const used = new Set(google.callsOf('/profile').map(({ authorization }) => authorization))
  assert.deepEqual([...used], ['Bearer ya29.second'])
  assert.deepEqual([google.refreshTokens().length, google.state.writes], [1, 1])
})

test('calls whose token is refused renew it once and are repeated once', async () => {
  const gate = Promise.withResolvers<void>()
  const refused = { ...unauthorized, after: gate.promise }
  await using google = await openRenewing([second, third], [refused, refused, refused, profile])
  const calls = Array.from({ length: 3 }, () => google.profile())
  await google.reached(3)
  gate.resolve()
  await Promise.all(calls)
  assert.deepEqual([google.refreshTokens().length, google.callsOf('/profile').length], [1, 6])
})

test('when a fresh token is refused, the consent counts as revoked and no third call is made', async () => {
  await using google = await openRenewing([second], [unauthorized])
  const { message } = await fails(google.profile(), 'consent-revoked', false)
  assert.match(message, /Run `reveille webhooks gmail setup`/)
  assert.equal(google.callsOf('/profile').length, 2)
})

test('a fresh token that expired while the machine slept is renewed again and does not count as a revoked consent', async () => {
  const gate = Promise.withResolvers<void>()
  const profiles = [unauthorized, { ...unauthorized, after: gate.promise }, profile]
  await using google = await openRenewing([second, third], profiles)
  const call = google.profile()
  await google.reached(3)
  google.time.now += 7_200_000
  gate.resolve()
  assert.deepEqual(await call, profile.body)
  assert.equal(google.calls.at(-1)?.authorization, 'Bearer ya29.third')
})

test('a 401 that does not come from Google does not count as a revoked consent', async () => {
  await using google = await openRenewing([second], [{ status: 401, raw: '<h1>Sign in to the network</h1>' }])
  await fails(google.profile(), 'malformed', true)
})

test('a new refresh token is on disk before it is used', async () => {
  await using google = await openExpired(tokens('ya29.second', { refresh_token: '1//second' }), third)
  google.state.isFull = true
  await google.profile()
  assert.equal(google.disk.has('credentials'), false, 'the call wanted nothing of the disk')

  google.time.now += 3_600_000
  await fails(google.profile(), 'kept-failed', true)
  assert.equal(google.refreshTokens().length, 1, 'the new one was not used')

  google.state.isFull = false
  await google.profile()
  assert.deepEqual(google.refreshTokens(), [secrets.refresh, '1//second'])
  const stored = { refreshToken: '1//second', accessToken: 'ya29.third' }
  assert.partialDeepStrictEqual(google.disk.get('credentials'), stored)
})

test('a renewed token that could not be written is written with the next call', async () => {
  await using google = await openExpired(second)
  google.state.isFull = true
  await google.profile()
  google.state.isFull = false
  await google.profile()
  assert.partialDeepStrictEqual(google.disk.get('credentials'), { accessToken: 'ya29.second' })
  await google.profile()
  assert.equal(google.state.writes, 1)
})

test('a consent that setup stored meanwhile is not overwritten', async () => {
  await using google = await openExpired(second)
  const newer = { ...credentials, refreshToken: '1//of-a-second-setup' }
  google.disk.set('credentials', newer)
  await google.profile()
  await google.profile()
  assert.deepEqual(google.disk.get('credentials'), newer)
  assert.equal(google.refreshTokens().length, 1)
})

for (const [status, error, code, retryable, words] of [
  [
    400,
    'invalid_grant',
    'consent-revoked',
    false,
    /accepts the consent of ada@example\.com: .*a week\. Run `/,
  ],
  [401, 'invalid_client', 'bad-client', false, /the OAuth client/],
  [400, 'unauthorized_client', 'bad-client', false, /the OAuth client/],
  [401, 'deleted_client', 'bad-client', false, /The OAuth client was deleted/],
  [400, 'invalid_scope', 'missing-scope', false, /its box ticked/],
  [400, 'admin_policy_enforced', 'forbidden', false, /admin_policy_enforced/],
  [429, 'rate_limit_exceeded', 'rate-limited', true, /fewer calls/],
  [500, 'internal_failure', 'unavailable', true, /cannot answer now \(500\)/],
  [503, undefined, 'unavailable', true, /cannot answer now \(503\)/],
  [404, undefined, 'malformed', true, /`baseUrls\.oauth`/],
] as const)
  test(`${status} ${error ?? ''} of the token server becomes ${code}, which says what to do`, async () => {
    const description = `The OAuth client was deleted; it said ${secrets.refresh} and ${secrets.client}.`
    const body = error && { error, error_description: description }
    await using google = await openExpired({ status, body, headers: { 'retry-after': '7' } })
    const failure = await fails(google.profile(), code, retryable)
    assert.match(failure.message, words)
    assert.equal(failure.retryAfter, ['rate-limited', 'unavailable'].includes(code) ? 7 : undefined)
    assert.equal(google.calls.length, 1, 'nothing is tried again here')
  })

for (const raw of [
  ...['<html>', '"ya29.second"', '[]', '{}', '{"access_token": 7, "expires_in": 3599}'],
  ...['{"access_token": "a b", "expires_in": 3599}', '{"access_token": "ya29.second"}'],
  '{"access_token": "ya29.second", "expires_in": "soon"}',
  '{"access_token": "ya29.second", "expires_in": -1}',
  '{"access_token": "ya29.second", "expires_in": 3599, "token_type": "MAC"}',
  '{"access_token": "ya29.second", "expires_in": 3599, "refresh_token": 7}',
])
  test(`${raw} holds no usable token`, async () => {
    await using google = await openExpired({ raw })
    await fails(google.profile(), 'malformed', true)
    assert.equal(google.disk.size, 0)
  })

test('a caller that aborts ends neither the renewal nor the wait of other callers', async () => {
  const gate = Promise.withResolvers<void>()
  await using google = await openExpired({ ...second, after: gate.promise })
  const abort = new AbortController()
  const reason = new Error('called off')
  const aborted = google.profile(abort.signal)
  const waiting = google.profile()
  await google.reached(1)
  abort.abort(reason)
  await assert.rejects(aborted, (error) => error === reason)
  gate.resolve()
  await waiting
  assert.equal(google.refreshTokens().length, 1)
})

test('a failed renewal fails all callers that wait for it, and the next call renews again', async () => {
  await using google = await openExpired({ ...second, cut: true }, third)
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => google.profile()))
  const codes = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code)
  assert.deepEqual(codes, ['network', 'network', 'network'])
  assertNoSecret(outcomes)
  await google.profile()
})
