import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { authorizationUrl, exchange, newVerifier } from './consent.ts'
import { createHost, failureOf, type Step, secrets, serveGoogle, start, tokens } from './fixture.ts'

const redirectUri = 'http://127.0.0.1:50123/'
const [code, verifier] = ['4/the-code-of-ada', 'the-verifier-of-ada']

async function exchanged(
  step: Step,
  client: { id: string; secret?: string } = { id: 'abc', secret: secrets.client },
) {
  await using server = await serveGoogle({ 'POST /token': [step] })
  const { fetch, clock, signal } = createHost()
  const { baseUrls, calls } = server
  const request = { client, code, verifier, redirectUri, baseUrls, fetch, clock, signal }
  const [outcome] = await Promise.allSettled([exchange(request)])
  return { outcome, calls }
}

test('the consent page is asked for the scopes, a refresh token and a code bound to the verifier', async () => {
  const url = new URL(
    authorizationUrl({
      clientId: 'abc',
      baseUrls: { accounts: 'https://accounts.example/a', oauth: '', gmail: '', pubsub: '' },
      redirectUri,
      state: 'a state & more',
      challenge: 'the-challenge',
      loginHint: 'ada@example.com',
    }),
  )
  assert.equal(url.origin + url.pathname, 'https://accounts.example/a/o/oauth2/v2/auth')
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    response_type: 'code',
    client_id: 'abc',
    redirect_uri: redirectUri,
    scope: 'https://www.googleapis.com/auth/gmail.readonly https://www.googleapis.com/auth/pubsub',
    state: 'a state & more',
    access_type: 'offline',
    prompt: 'consent',
    code_challenge: 'the-challenge',
    code_challenge_method: 'S256',
    login_hint: 'ada@example.com',
  })
})

test('each verifier is new, and its challenge is its hash', async () => {
  const [first, second] = [await newVerifier(), await newVerifier()]
  assert.notEqual(first.verifier, second.verifier)
  assert.match(first.verifier, /^[\w.~-]{43,128}$/)
  assert.equal(first.challenge, createHash('sha256').update(first.verifier).digest('base64url'))
})

test('a code is exchanged for tokens, with the verifier', async () => {
  const scope = 'https://www.googleapis.com/auth/gmail.readonly'
  const { outcome, calls } = await exchanged(
    tokens(secrets.access, { refresh_token: secrets.refresh, scope }),
  )
  const grant = {
    refreshToken: secrets.refresh,
    accessToken: secrets.access,
    accessTokenEnds: start + 3_599_000,
    scopes: [scope],
  }
  assert.deepEqual(outcome, { status: 'fulfilled', value: grant })
  assert.deepEqual(Object.fromEntries(new URLSearchParams(String(calls[0]?.body))), {
    client_id: 'abc',
    client_secret: secrets.client,
    code,
    code_verifier: verifier,
    grant_type: 'authorization_code',
    redirect_uri: redirectUri,
  })
})

test('a client without a secret sends none', async () => {
  const { calls, outcome } = await exchanged(tokens('a', { refresh_token: 'r' }), { id: 'abc' })
  assert.equal(new URLSearchParams(String(calls[0]?.body)).has('client_secret'), false)
  assert.ok(outcome.status === 'fulfilled')
  assert.equal(outcome.value.scopes.length, 2, 'what is not said is what was asked for')
})

test('a refused code is an error that quotes no code, and is not retried', async () => {
  const words = `It was ${code}, ${verifier} and ${secrets.client}.`
  const refusal = (status: number, error: string) => ({ status, body: { error, error_description: words } })
  const cases = [
    [refusal(400, 'invalid_grant'), 'bad-code', false],
    [refusal(401, 'invalid_client'), 'bad-client', false],
    [refusal(400, 'redirect_uri_mismatch'), 'forbidden', false],
    [{ status: 503, raw: '<html>' }, 'unavailable', true],
    [tokens(secrets.access), 'malformed', true],
    [{ raw: '<html>' }, 'malformed', true],
    [{ ...tokens(secrets.access), cut: true as const }, 'network', true],
  ] as const
  for (const [step, expected, retryable] of cases) {
    const { outcome, calls } = await exchanged(step)
    assert.ok(outcome.status === 'rejected')
    const failure = await failureOf(Promise.reject(outcome.reason))
    assert.deepEqual([failure.code, failure.retryable, calls.length], [expected, retryable, 1])
    assert.ok(!failure.message.includes(code) && !failure.message.includes(verifier), failure.message)
  }
})
