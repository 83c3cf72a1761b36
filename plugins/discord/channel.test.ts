import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { isPluginError } from '@reveille/kit'
import { vendorConformance } from '@reveille/kit/conformance'
import { type FakeServerAnswer, type FakeVendor, openBed } from '@reveille/kit/fake-server'
import { createDiscordChannel, type DiscordConfig, userAgent } from './channel.ts'
import { openVendor, visibleText } from './fake-server/index.ts'

vendorConformance({
  name: 'the channel discord conforms',
  plugin: new URL('./index.ts', import.meta.url),
  open: openVendor,
  visibleText,
  places: [
    ['channel:1400000000000000001', '1400000000000000001', ' channel:1400000000000000001 '],
    ['channel:1400000000000000002'],
    ['user:1500000000000000001'],
  ],
  badAddresses: [
    '#general',
    'channel:',
    'user:ada',
    'thread:1',
    '<#14>',
    '012',
    'channel:123456789012345678901',
  ],
})

const configOf = ({ config }: FakeVendor) => ({ linkPreviews: false, ...config }) as unknown as DiscordConfig

async function open(given: Partial<DiscordConfig> = {}) {
  const vendor = await openVendor()
  const clock = { now: 0 }
  const config = { ...configOf(vendor), ...given }
  const channel = createDiscordChannel({ config, fetch, now: () => clock.now })
  const paths = () => vendor.requests.map(({ path }) => path.replace('/api/v10', ''))
  return { ...openBed(vendor, channel), clock, paths }
}

test('a message mentions no one, shows no previews, and has a nonce that Discord must enforce', async () => {
  await using bed = await open()
  const [receipt] = await bed.send()
  const [request] = bed.vendor.requests
  assert.ok(request !== undefined)
  const { nonce, ...body } = request.json as Record<string, unknown>
  assert.deepEqual(body, { content: 'Hello', enforce_nonce: true, allowed_mentions: { parse: [] }, flags: 4 })
  assert.ok(typeof nonce === 'string' && nonce.length <= 25)
  assert.equal(request.headers['user-agent'], userAgent)
  assert.deepEqual(receipt, { id: bed.vendor.messages[0]?.id, at: '2026-01-01T00:00:00.000000+00:00' })
})

test('the nonce identifies the delivery and the part', async () => {
  await using bed = await open()
  await bed.send('Hello', bed.vendor.to, 'one')
  await bed.send('Hello', bed.vendor.to, 'two')
  await bed.send('Hello', bed.vendor.to, 'one')
  assert.equal(bed.vendor.messages.length, 2)
})

test('previews are shown if the configuration asks for them', async () => {
  await using bed = await open({ linkPreviews: true })
  await bed.send()
  assert.equal(bed.vendor.messages[0]?.flags, 0)
})

test('the base URL may end with a slash', async () => {
  await using vendor = { ...(await openVendor()), [Symbol.asyncDispose]: () => vendor.close() }
  const config = { ...configOf(vendor), baseUrl: `${configOf(vendor).baseUrl}/` }
  const channel = createDiscordChannel({ config, fetch, now: () => 0 })
  assert.deepEqual(await channel.check?.(new AbortController().signal), {
    ok: true,
    detail: 'The token belongs to hooks (1300000000000000001).',
  })
})

test('the user agent names the version of the package', async () => {
  const { name, version } = JSON.parse(await readFile(new URL('./package.json', import.meta.url), 'utf8'))
  assert.equal(userAgent, `DiscordBot (https://www.npmjs.com/package/${name}, ${version})`)
})

test('the direct message with a user is opened once', async () => {
  await using bed = await open()
  const { userTo } = bed.vendor
  await bed.send('One', userTo, 'a')
  await bed.send('Two', userTo, 'b')
  const [opened, ...sent] = bed.paths()
  assert.equal(opened, '/users/@me/channels')
  assert.equal(sent.length, 2)
  assert.deepEqual(new Set(sent), new Set([`/channels/${bed.vendor.messages[0]?.to}/messages`]))
})

test('a user who takes no messages, or who does not exist, needs an operator', async () => {
  await using bed = await open()
  const closed = await bed.failure(bed.vendor.closedUserTo)
  assert.deepEqual([closed.code, closed.retryable], ['forbidden', false])
  assert.match(closed.message, /share a server with it and allow direct messages \(403, 50007 /)
  const unknown = await bed.failure('user:1599999999999999999')
  assert.deepEqual([unknown.code, unknown.retryable], ['bad-target', false])
})

test('a failure before the channel is known has delivered nothing', async () => {
  for (const answer of [
    { status: 500, body: { message: 'x', code: 0 } },
    { status: 504, body: '<html>' },
  ]) {
    await using bed = await open()
    const channel = createDiscordChannel({
      config: configOf(bed.vendor),
      fetch: async () => new Response(JSON.stringify(answer.body), { status: answer.status }),
      now: () => 0,
    })
    const call = { target: channel.target('user:1'), key: 'd:1', signal: new AbortController().signal }
    await assert.rejects(
      channel.send({ text: 'x' }, call),
      (error) => isPluginError(error) && error.retryable && !error.maybeDelivered,
    )
  }
})

test('after the last message that Discord allows for now, the next one waits without a request', async () => {
  await using bed = await open()
  const { vendor, clock } = bed
  const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '1.5' }
  vendor.script({ kind: 'answer-after', answer: { headers, body: { id: '1' } } })
  await bed.send('One', vendor.to, 'a')
  clock.now = 500
  const error = await bed.failure()
  const { code, retryable, retryAfter, maybeDelivered, wholeService } = error
  assert.deepEqual(
    { code, retryable, retryAfter, maybeDelivered, wholeService },
    { code: 'rate-limited', retryable: true, retryAfter: 1, maybeDelivered: false, wholeService: false },
  )
  assert.equal(bed.paths().length, 1)
  await bed.send('Elsewhere', vendor.threadTo, 'b')
  clock.now = 1500
  await bed.send('Two', vendor.to, 'c')
  assert.deepEqual(
    vendor.messages.map(({ text }) => text),
    ['One', 'Elsewhere', 'Two'],
  )
})

test('the headers report when the limit of a channel is used up, so that no request is answered 429', async () => {
  const vendor = await openVendor({ bucket: { count: 2, seconds: 60 } })
  await using _ = { [Symbol.asyncDispose]: () => vendor.close() }
  const channel = createDiscordChannel({ config: configOf(vendor), fetch, now: () => performance.now() })
  const target = channel.target(vendor.to)
  const send = (key: string) =>
    channel.send({ text: key }, { target, key, signal: new AbortController().signal })
  await send('a:1')
  await send('b:1')
  await assert.rejects(send('c:1'), /nothing more there for/)
  assert.deepEqual([vendor.requests.length, vendor.messages.length], [2, 2])
})

const limited = (more: Partial<FakeServerAnswer>): FakeServerAnswer => ({
  status: 429,
  body: { message: 'You are being rate limited.', retry_after: 0.65, global: false },
  ...more,
})
const limits = [
  { what: 'of a channel', answer: limited({}), retryAfter: 0.65, wholeService: false },
  {
    what: 'of the bot, by the body',
    answer: limited({ body: { message: 'x', retry_after: 64.57, global: true } }),
    retryAfter: 64.57,
    wholeService: true,
  },
  {
    what: 'of the bot, by a header',
    answer: limited({ headers: { 'x-ratelimit-global': 'true' } }),
    retryAfter: 0.65,
    wholeService: true,
  },
  {
    what: 'of the address, by the proxy',
    answer: limited({ headers: { 'retry-after': '600' }, body: 'error code: 1015' }),
    retryAfter: 600,
    wholeService: true,
  },
] as const

for (const { what, answer, retryAfter, wholeService } of limits) {
  test(`a limit ${what} holds back ${wholeService ? 'everything' : 'only that channel'}`, async () => {
    await using bed = await open()
    bed.vendor.script({ kind: 'answer', answer })
    const error = await bed.failure()
    assert.deepEqual(
      [error.code, error.retryAfter, error.wholeService, error.maybeDelivered],
      ['rate-limited', retryAfter, wholeService, false],
    )
  })
}

/** Discord's answers, and the expected code, whether to retry, and whether the message may have arrived. */
const refusals: readonly (readonly [FakeServerAnswer, string, boolean, boolean])[] = [
  [refusal(403, 50001, 'Missing Access'), 'forbidden', false, false],
  [refusal(403, 50013, 'Missing Permissions'), 'forbidden', false, false],
  [refusal(403, 99999, 'Something new'), 'forbidden', false, false],
  [refusal(404, 10003, 'Unknown Channel'), 'bad-target', false, false],
  [refusal(400, 50008, 'Cannot send messages in a non-text channel'), 'bad-target', false, false],
  [refusal(400, 50006, 'Cannot send an empty message'), 'bad-request', false, false],
  [refusal(400, 200000, 'Message was blocked'), 'forbidden', false, false],
  [formError('content', 'BASE_TYPE_MAX_LENGTH'), 'too-long', false, false],
  [formError('nonce', 'NONCE_TYPE_INVALID'), 'bad-request', false, false],
  [refusal(404, 0, '404: Not Found'), 'bad-request', false, false],
  [refusal(500, 0, '500: Internal Server Error'), 'unavailable', true, true],
  [refusal(503, 130000, 'API resource is currently overloaded'), 'unavailable', true, false],
  [{ status: 502, body: '<html>' }, 'unavailable', true, false],
  [{ status: 504, body: '<html>' }, 'unavailable', true, true],
  [{ status: 403, body: '<html>' }, 'unavailable', true, false],
  [{ status: 200, body: '<html>' }, 'unavailable', true, true],
]

test('each refusal has its meaning, and says whether to try again', async () => {
  await using bed = await open()
  for (const [answer, ...expected] of refusals) {
    bed.vendor.script({ kind: 'answer', answer })
    const { code, retryable, maybeDelivered, message } = await bed.failure()
    assert.deepEqual([code, retryable, maybeDelivered], expected, message)
  }
})

test('a refusal names the field, the code of Discord and the fix', async () => {
  await using bed = await open()
  bed.vendor.script({ kind: 'answer', answer: formError('content', 'BASE_TYPE_MAX_LENGTH') })
  assert.match(
    (await bed.failure()).message,
    /\(400, 50035 Invalid Form Body, content: BASE_TYPE_MAX_LENGTH\)/,
  )
  assert.match((await bed.failure(bed.vendor.hiddenTo)).message, /give it `View Channel` there \(403, 50001 /)
})

function refusal(status: number, code: number, message: string): FakeServerAnswer {
  return { status, body: { message, code } }
}

function formError(field: string, code: string): FakeServerAnswer {
  const errors = { [field]: { _errors: [{ code, message: 'It may quote what was sent.' }] } }
  return { status: 400, body: { message: 'Invalid Form Body', code: 50035, errors } }
}
