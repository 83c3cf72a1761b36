import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { OAuth2Client } from 'google-auth-library'
import { openAsking } from '../client.ts'
import type { FakeGoogle } from '../google.ts'
import { provesChallenge } from './grants.ts'

/** RFC 7636, appendix B. */
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

const mail = 'https://www.googleapis.com/auth/gmail.readonly'
const pubsub = 'https://www.googleapis.com/auth/pubsub'

function clientOf(google: FakeGoogle): { id: string; secret: string } {
  const { installed } = google.clientFile as { installed: Record<string, string> }
  return { id: installed['client_id'] ?? '', secret: installed['client_secret'] ?? '' }
}

/** Builds the parameters of a consent page. Undefined removes a parameter. */
function pageOf(google: FakeGoogle, changes: Readonly<Record<string, string | undefined>> = {}): string {
  const url = new URL(`${google.baseUrls.accounts}/o/oauth2/v2/auth`)
  const parameters = {
    client_id: clientOf(google).id,
    redirect_uri: 'http://127.0.0.1:9/back',
    response_type: 'code',
    scope: `${mail} ${pubsub}`,
    state: 'our state',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    access_type: 'offline',
    ...changes,
  }
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) url.searchParams.append(name, value)
  }
  return url.href
}

function exchangeOf(google: FakeGoogle, code: string): Record<string, string> {
  const { id, secret } = clientOf(google)
  return {
    grant_type: 'authorization_code',
    client_id: id,
    client_secret: secret,
    code,
    code_verifier: verifier,
    redirect_uri: 'http://127.0.0.1:9/back',
  }
}

async function codeOf(google: FakeGoogle, changes?: Readonly<Record<string, string | undefined>>) {
  const back = new URL(await google.consentByHand(pageOf(google, changes)))
  return back.searchParams.get('code') ?? ''
}

test('the challenge of RFC 7636, appendix B, matches its verifier and no other', () => {
  const asked = {
    redirectUri: '',
    challenge,
    challengeMethod: 'S256' as const,
    isOffline: true,
    isForced: false,
  }
  assert.ok(provesChallenge(verifier, asked))
  assert.ok(!provesChallenge(verifier.replace('d', 'e'), asked))
  assert.ok(!provesChallenge(challenge, asked))
  assert.ok(provesChallenge(verifier, { ...asked, challengeMethod: 'plain', challenge: verifier }))
})

test("Google's own client gets tokens for a consent over the loopback redirect, and renews them", async () => {
  await using asking = await openAsking()
  const { google } = asking
  const { id, secret } = clientOf(google)
  const server = createServer((request, response) => response.end(request.url))
  server.on('connection', (socket) => socket.unref())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/back`
  try {
    const auth = new OAuth2Client({
      clientId: id,
      clientSecret: secret,
      redirectUri,
      endpoints: {
        oauth2AuthBaseUrl: `${google.baseUrls.accounts}/o/oauth2/v2/auth`,
        oauth2TokenUrl: `${google.baseUrls.oauth}/token`,
        oauth2RevokeUrl: `${google.baseUrls.oauth}/revoke`,
      },
    })
    const { codeVerifier, codeChallenge } = await auth.generateCodeVerifierAsync()
    assert.equal(createHash('sha256').update(codeVerifier).digest('base64url'), codeChallenge)
    const url = auth.generateAuthUrl({
      access_type: 'offline',
      prompt: 'consent',
      scope: [mail, pubsub],
      state: 's&t',
      code_challenge_method: 'S256' as never,
      code_challenge: codeChallenge,
    })
    const response = await google.consent(url)
    const back = new URL((await response.text()) || '', redirectUri)
    assert.equal(back.searchParams.get('state'), 's&t')
    assert.equal(back.searchParams.get('scope'), `${mail} ${pubsub}`)
    const { tokens } = await auth.getToken({ code: back.searchParams.get('code') ?? '', codeVerifier })
    assert.equal(tokens.scope, `${mail} ${pubsub}`)
    assert.ok(tokens.refresh_token && tokens.access_token)
    auth.setCredentials({ refresh_token: tokens.refresh_token })
    const renewed = await auth.getAccessToken()
    assert.notEqual(renewed.token, tokens.access_token)
    assert.deepEqual(google.mistakes, [])
    await auth.revokeToken(tokens.refresh_token)
    await assert.rejects(
      auth.getAccessToken().then(() => auth.refreshAccessToken()),
      /invalid_grant/,
    )
  } finally {
    server.close()
  }
})

const badPages: readonly (readonly [string, Readonly<Record<string, string | undefined>>, RegExp])[] = [
  ['a redirect to elsewhere', { redirect_uri: 'https://example.com/back' }, /redirect_uri_mismatch/],
  [
    'a redirect to a name like ours',
    { redirect_uri: 'http://127.0.0.1.example.com/' },
    /redirect_uri_mismatch/,
  ],
  ['a redirect over TLS', { redirect_uri: 'https://127.0.0.1:9/back' }, /redirect_uri_mismatch/],
  ['codes to be copied from a page', { redirect_uri: 'urn:ietf:wg:oauth:2.0:oob' }, /redirect_uri_mismatch/],
  ['no redirect', { redirect_uri: undefined }, /redirect_uri/],
  ['another client', { client_id: 'somebody' }, /invalid_client/],
  ['tokens without a code', { response_type: 'token' }, /response_type/],
  ['no scope', { scope: undefined }, /scope/],
  ['a scope that is none', { scope: `${mail} https://example.com/all` }, /invalid_scope/],
  ['no challenge', { code_challenge: undefined }, /code_challenge/],
  ['a challenge of another length', { code_challenge: 'short' }, /Invalid code challenge/],
  ['an unknown kind of challenge', { code_challenge_method: 's256' }, /code_challenge_method/],
  ['an unknown kind of access', { access_type: 'forever' }, /access_type/],
  ['an unknown prompt', { prompt: 'please' }, /prompt/],
  ['a parameter that nobody knows', { nonsense: '1' }, /Parameter not allowed.*nonsense/],
]

test('a request that Google refuses gets no consent page and no redirect', async () => {
  await using asking = await openAsking()
  const { google } = asking
  for (const [name, changes, reason] of badPages) {
    const count = google.mistakes.length
    const response = await google.consent(pageOf(google, changes))
    assert.ok(response.status >= 400 && response.status < 500, name)
    assert.match(await response.text(), reason, name)
    assert.equal(google.mistakes.length, count + 1, name)
    await assert.rejects(google.consentByHand(pageOf(google, changes)), /shows no page/)
  }
})

test('every loopback address and port is allowed', async () => {
  await using asking = await openAsking()
  for (const redirect of ['http://127.0.0.1:1', 'http://[::1]:65535/a/b', 'http://localhost:8080/']) {
    const back = await asking.google.consentByHand(pageOf(asking.google, { redirect_uri: redirect }))
    assert.ok(back.startsWith(redirect), back)
  }
})

test('a code works once, for its client, its redirect and its verifier', async () => {
  await using asking = await openAsking()
  const { google, submit } = asking
  const good = exchangeOf(google, await codeOf(google))
  const other = challenge
  const cases: readonly (readonly [Record<string, string>, number, string])[] = [
    [{ ...good, code: '4/nonsense' }, 400, 'invalid_grant'],
    [{ ...good, code_verifier: other }, 400, 'invalid_grant'],
    [{ ...good, code_verifier: 'short' }, 400, 'invalid_grant'],
    [{ ...good, code_verifier: '' }, 400, 'invalid_grant'],
    [{ ...good, redirect_uri: 'http://127.0.0.1:10/back' }, 400, 'redirect_uri_mismatch'],
    [{ ...good, redirect_uri: '' }, 400, 'invalid_request'],
    [{ ...good, client_id: 'somebody' }, 401, 'invalid_client'],
    [{ ...good, client_secret: 'wrong' }, 401, 'invalid_client'],
    [{ ...good, client_secret: '' }, 400, 'invalid_request'],
    [{ ...good, grant_type: 'password' }, 400, 'unsupported_grant_type'],
    [{ ...good, nonce: '1' }, 400, 'invalid_request'],
  ]
  for (const [form, status, error] of cases) {
    const answer = await submit(form)
    assert.deepEqual([answer.status, answer.body.error], [status, error], JSON.stringify(form))
    assert.equal(typeof answer.body.error_description, 'string')
  }
  assert.equal(google.mistakes.length, cases.length)
  const { status, body } = await submit(good)
  assert.equal(status, 200)
  assert.deepEqual([body.expires_in, body.token_type, body.scope], [3599, 'Bearer', `${mail} ${pubsub}`])
  assert.deepEqual([(await submit(good)).body.error], ['invalid_grant'])
})

test('a code expires after ten minutes', async () => {
  await using asking = await openAsking()
  const { google, submit } = asking
  const form = exchangeOf(google, await codeOf(google))
  google.advance(600_000)
  assert.equal((await submit(form)).body.error, 'invalid_grant')
})

test('a refresh token comes with the first consent only, unless the page is asked to prompt again', async () => {
  await using asking = await openAsking()
  const { google, submit } = asking
  const lasting = async (changes: Readonly<Record<string, string | undefined>>) =>
    'refresh_token' in (await submit(exchangeOf(google, await codeOf(google, changes)))).body
  // A consent exists already: that of `credentials()`.
  assert.deepEqual([await lasting({}), await lasting({ prompt: 'consent' })], [false, true])
  google.revoke()
  assert.deepEqual([await lasting({}), await lasting({})], [true, false])
  google.revoke()
  assert.equal(await lasting({ access_type: 'online' }), false)
})

test('a person can deny, consent to a part, or be another account', async () => {
  await using asking = await openAsking()
  const { google, submit, ask } = asking
  const server = createServer((request, response) => response.end(request.url))
  server.on('connection', (socket) => socket.unref())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const redirect_uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/back`
  const url = pageOf(google, { redirect_uri })
  try {
    const denied = await (await google.consent(url, 'deny')).text()
    assert.equal(denied, '/back?state=our+state&error=access_denied')

    const tokenFor = async (answer: { only: string[] } | { as: string }) => {
      const back = new URL(await (await google.consent(url, answer)).text(), redirect_uri)
      const form = exchangeOf(google, back.searchParams.get('code') ?? '')
      return (await submit({ ...form, redirect_uri })).body
    }
    const partly = await tokenFor({ only: [mail] })
    assert.equal(partly.scope, mail)
    const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
    const refused = await ask(`pubsub/v1/${asking.topic}`, bearer(partly.access_token))
    assert.equal(refused.status, 403)
    assert.equal(refused.body.error.details[0].reason, 'ACCESS_TOKEN_SCOPE_INSUFFICIENT')
    assert.deepEqual(google.mistakes, [], 'it was the person who left it out')

    const grace = await tokenFor({ as: 'grace@example.com' })
    const profile = await ask('gmail/gmail/v1/users/me/profile', bearer(grace.access_token))
    assert.equal(profile.body.emailAddress, 'grace@example.com')
    const foreign = await ask(`pubsub/v1/${asking.topic}`, bearer(grace.access_token))
    assert.deepEqual([foreign.status, foreign.body.error.status], [403, 'PERMISSION_DENIED'])
  } finally {
    server.close()
  }
})

test('a scope that was not asked for is missing, and its use is recorded as a mistake', async () => {
  await using asking = await openAsking()
  const { google, submit, ask } = asking
  const token = (await submit(exchangeOf(google, await codeOf(google, { scope: mail })))).body.access_token
  const { status, body } = await ask(`pubsub/v1/${asking.topic}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.deepEqual([status, body.error.message], [403, 'Request had insufficient authentication scopes.'])
  assert.equal(google.mistakes.length, 1)
})

test("a withdrawn consent is refused in Google's words", async () => {
  await using asking = await openAsking()
  const { google, submit } = asking
  const { clientId, clientSecret, refreshToken } = google.credentials() as Record<string, string>
  const form = {
    grant_type: 'refresh_token',
    client_id: clientId ?? '',
    client_secret: clientSecret ?? '',
    refresh_token: refreshToken ?? '',
  }
  assert.equal((await submit(form)).status, 200)
  google.revoke()
  const { status, body } = await submit(form)
  assert.equal(status, 400)
  assert.deepEqual(body, { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' })
  assert.deepEqual(google.mistakes, [])
  const again = google.credentials() as Record<string, string>
  assert.equal((await submit({ ...form, refresh_token: again['refreshToken'] ?? '' })).status, 200)
})
