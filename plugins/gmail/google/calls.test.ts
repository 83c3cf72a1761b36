import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFakeServer } from '@reveille/kit/fake-server'
import { exchange } from './exchange.ts'
import {
  createHost,
  fails,
  failureOf,
  gmailError,
  newerError,
  openScripted,
  type Step,
  secrets,
} from './fixture.ts'

const route = 'GET /gmail/v1/users/me/profile'

/** Asserts that this answer to a request for the profile is a failure of this code, without another request. */
async function profileFails(step: Step, code: string, retryable: boolean) {
  await using google = await openScripted({ [route]: [step] })
  const failure = await fails(google.profile(), code, retryable, JSON.stringify(step))
  assert.equal(google.calls.length, 1, 'nothing is tried again here')
  return failure
}

test('each refusal of Gmail becomes an error with its code, message and retryability', async () => {
  const cases = [
    [403, 'insufficientPermissions', 'missing-scope', false, /its box ticked/],
    [403, 'rateLimitExceeded', 'rate-limited', true, /asks for fewer calls/],
    [403, 'userRateLimitExceeded', 'rate-limited', true, /asks for fewer calls/],
    [403, 'quotaExceeded', 'rate-limited', true, /asks for fewer calls/],
    [403, 'dailyLimitExceeded', 'rate-limited', true, /asks for fewer calls/],
    [429, 'rateLimitExceeded', 'rate-limited', true, /asks for fewer calls/],
    [403, 'domainPolicy', 'forbidden', false, /does not allow it \(403\): Words/],
    [400, 'failedPrecondition', 'forbidden', false, /does not allow it \(400\): Words/],
    [400, 'invalidArgument', 'bad-request', false, /refuses the request \(400\): Words/],
    [404, 'notFound', 'not-found', false, /no such thing/],
    [408, 'timeout', 'unavailable', true, /cannot answer now \(408\)/],
    [500, 'backendError', 'unavailable', true, /cannot answer now \(500\)/],
    [503, 'backendError', 'unavailable', true, /cannot answer now \(503\)/],
  ] as const
  for (const [status, reason, code, retryable, words] of cases) {
    const said = `Words of Google's\nabout ${secrets.access} and ${secrets.refresh}.`
    const { message } = await profileFails(gmailError(status, reason, said), code, retryable)
    assert.match(message, words)
  }
})

test("a disabled API is named in the error, with Google's address for enabling it", async () => {
  const ours = 'https://console.cloud.google.com/apis/library/gmail.googleapis.com'
  const address = 'https://console.developers.google.com/apis/api/gmail.googleapis.com/overview?project=1234'
  const disabled = (message: string) => gmailError(403, 'accessNotConfigured', message)
  const cases = [
    [disabled(`Enable it by visiting ${address} then retry.`), address],
    [disabled('It is disabled.'), ours],
    [disabled('Enable it by visiting https://console.evil.example/apis then'), ours],
    [disabled('See https://console.google.com.evil.example/apis/api'), ours],
    [newerError(403, 'PERMISSION_DENIED', 'It is disabled.', [{ reason: 'SERVICE_DISABLED' }]), ours],
  ] as const
  for (const [step, where] of cases) {
    const { message } = await profileFails(step, 'api-disabled', false)
    const text = `The Gmail API is not enabled in the Google Cloud project: enable it at ${where} and wait some minutes.`
    assert.equal(message, text)
  }
})

test('a refusal in the form of newer services becomes an error too', async () => {
  const console = 'https://console.developers.google.com/apis/api/gmail.googleapis.com/overview?project=1234'
  const links = [{ description: 'Google developers console API activation', url: console }]
  const cases = [
    ['SERVICE_DISABLED', 403, [{ reason: 'SERVICE_DISABLED' }, { links }], 'api-disabled', console],
    ['PERMISSION_DENIED', 403, [{ reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT' }], 'missing-scope', 'its box'],
    ['PERMISSION_DENIED', 403, [{ reason: 'IAM_PERMISSION_DENIED' }], 'forbidden', 'Words'],
    ['RESOURCE_EXHAUSTED', 429, undefined, 'rate-limited', 'fewer calls'],
    ['UNAVAILABLE', 503, undefined, 'unavailable', 'Words'],
    ['FAILED_PRECONDITION', 400, undefined, 'forbidden', 'Words'],
  ] as const
  for (const [status, code, details, expected, words] of cases) {
    await using google = await openScripted({ [route]: [newerError(code, status, 'Words', details)] })
    const failure = await failureOf(google.profile())
    assert.equal(failure.code, expected)
    assert.ok(failure.message.includes(words), failure.message)
  }
})

test('the retry delay is read from the header, the error details or the message', async () => {
  const busy = 'User-rate limit exceeded.  Retry after 2026-01-15T12:01:30.500Z'
  const delay = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3.5s' }]
  const cases = [
    [{ ...gmailError(429, 'rateLimitExceeded', busy), headers: { 'retry-after': '12' } }, 12],
    [newerError(429, 'RESOURCE_EXHAUSTED', 'Words', delay), 3.5],
    [newerError(429, 'RESOURCE_EXHAUSTED', 'Words', [{ retryDelay: 'soon' }]), undefined],
    [gmailError(403, 'userRateLimitExceeded', busy), 91],
    [gmailError(429, 'rateLimitExceeded', 'Words'), undefined],
    [{ status: 503, raw: '<html>', headers: { 'retry-after': '30' } }, 30],
  ] as const
  for (const [step, seconds] of cases) {
    const code = step.status === 503 ? 'unavailable' : 'rate-limited'
    const failure = await profileFails(step, code, true)
    assert.equal(failure.retryAfter, seconds, JSON.stringify(step))
  }
})

test("an answer that does not have Google's form is malformed, whatever its status", async () => {
  const raw = '<html><p>Welcome</p></html>'
  const malformed: readonly Step[] = [
    { raw },
    { raw: '' },
    { raw: '"profile"' },
    { body: [] },
    { body: {} },
    { body: { emailAddress: '', historyId: '1' } },
    { body: { emailAddress: 'ada@example.com', historyId: 'now' } },
    { body: { emailAddress: 'ada@example.com', historyId: 1e300 } },
    { status: 404, raw },
    { status: 403, raw },
    { status: 204 },
  ]
  for (const step of malformed) await profileFails(step, 'malformed', true)
  await profileFails({ status: 429, raw }, 'rate-limited', true)
  for (const status of [502, 999]) await profileFails({ status, raw }, 'unavailable', true)
})

test('an error body with the status of a success is malformed', async () => {
  const { body } = gmailError(503, 'backendError', 'Backend Error')
  await using google = await openScripted({ 'GET /gmail/v1/users/me/messages': [{ body }] })
  const { gmail, signal } = google
  await fails(gmail.list({ labelId: 'INBOX', after: 0, max: 10 }, signal), 'malformed', true)
})

test("errors of the plugin's fetch are passed on unchanged", async () => {
  await profileFails({ status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'redirected', false)
  const gone = await openFakeServer({ answer: () => 'hang' })
  await gone.close()
  await using google = await openScripted({}, { baseUrls: { gmail: gone.url } })
  const unreached = await fails(google.profile(), 'network', true)
  assert.match(unreached.message, /could not be reached \(ECONNREFUSED\)/)
})

test('a connection that is cut in mid-answer is a network error', async () => {
  await profileFails({ body: { emailAddress: 'a'.repeat(10_000) }, cut: true }, 'network', true)
})

test("a call ends when its caller aborts it, with the caller's reason", async () => {
  await using google = await openScripted({ [route]: [{ hang: true }] })
  const abort = new AbortController()
  const call = google.profile(abort.signal)
  await google.reached(1)
  const reason = new Error('called off')
  abort.abort(reason)
  await assert.rejects(call, (error) => error === reason)
  await assert.rejects(google.profile(abort.signal), (error) => error === reason)
  assert.equal(google.calls.length, 1, 'the second was not begun')
})

test('a call that takes too long ends by itself', async () => {
  await using google = await openScripted({ [route]: [{ hang: true }] })
  const { fetch, signal, url } = google
  const call = exchange({ fetch, signal, seconds: 0.05, url: `${url}${route.slice(4)}` })
  await fails(call, 'timeout', true)
})

test('an endless answer is cut off long before it fills the memory', async () => {
  const host = createHost()
  let sent = 0
  const chunk = new Uint8Array(1_048_576)
  const endless = new ReadableStream({
    pull(controller) {
      sent += 1
      controller.enqueue(chunk)
    },
  })
  const fetch = async () => new Response(endless)
  const call = exchange({ fetch, signal: host.signal, url: 'http://127.0.0.1/' })
  await fails(call, 'malformed', true)
  assert.ok(sent < 14, `${sent} MiB were taken`)
})
