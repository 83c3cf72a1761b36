import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange } from './consent.ts'
import { createHost, failureOf, type Step, secrets, serveGoogle, tokens } from './fixture.ts'

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

test('a client without a secret sends none', async () => {
  const { calls, outcome } = await exchanged(tokens('a', { refresh_token: 'r' }), { id: 'abc' })
  assert.equal(new URLSearchParams(String(calls[0]?.body)).has('client_secret'), false)
  assert.ok(outcome.status === 'fulfilled')
  assert.equal(outcome.value.scopes.length, 1, 'what is not said is what was asked for')
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
