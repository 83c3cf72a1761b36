import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { vendorConformance } from '@reveille/kit/conformance'
import { type FakeServerAnswer, factsOf, type Meaning, openBed } from '@reveille/kit/fake-server'
import { createDiscordChannel, type DiscordConfig, userAgent } from './channel.ts'
import { type FakeDiscordOptions, openVendor, visibleText } from './fake-server/index.ts'

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

async function open(given: Partial<DiscordConfig> = {}, options?: FakeDiscordOptions) {
  const vendor = await openVendor(options)
  const clock = { now: 0 }
  const config = { linkPreviews: false, ...vendor.config, ...given } as unknown as DiscordConfig
  const channel = createDiscordChannel({ config, fetch, now: () => clock.now })
  const paths = () => vendor.requests.map(({ path }) => path.replace('/api/v10', ''))
  return { ...openBed(vendor, channel), config, clock, paths }
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
  await using bed = await open()
  const config = { ...bed.config, baseUrl: `${bed.config.baseUrl}/` }
  const channel = createDiscordChannel({ config, fetch, now: () => 0 })
  const detail = 'The token belongs to hooks (1300000000000000001).'
  assert.deepEqual(await channel.check?.(new AbortController().signal), { ok: true, detail })
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

test('a failure before the channel of a user is known has delivered nothing', async () => {
  for (const status of [500, 504]) {
    await using bed = await open()
    const answer = async () => Response.json({ message: 'x', code: 0 }, { status })
    const channel = createDiscordChannel({ config: bed.config, fetch: answer, now: () => 0 })
    const failing = openBed(bed.vendor, channel)
    assert.equal(factsOf(await failing.failure('user:1')), 'unavailable retryable')
  }
})

test('after the last message that Discord allows for now, the next one waits without a request', async () => {
  await using bed = await open()
  const { vendor, clock } = bed
  const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '1.5' }
  vendor.script({ kind: 'answer-after', answer: { headers, body: { id: '1' } } })
  await bed.send('One', vendor.to, 'a')
  clock.now = 500
  assert.equal(factsOf(await bed.failure()), 'rate-limited retryable after 1 s')
  assert.equal(bed.paths().length, 1)
  await bed.send('Elsewhere', vendor.threadTo, 'b')
  clock.now = 1500
  await bed.send('Two', vendor.to, 'c')
  assert.deepEqual(bed.texts(), ['One', 'Elsewhere', 'Two'])
})

test('the headers report when the limit of a channel is used up, so that no request is answered 429', async () => {
  await using bed = await open({}, { bucket: { count: 2, seconds: 60 } })
  for (const delivery of ['a', 'b']) await bed.send(delivery, bed.vendor.to, delivery)
  assert.match((await bed.failure()).message, /nothing more there for/)
  assert.deepEqual([bed.vendor.requests.length, bed.vendor.messages.length], [2, 2])
})

const limited = (more: Partial<FakeServerAnswer>): FakeServerAnswer => ({
  status: 429,
  body: { message: 'You are being rate limited.', retry_after: 0.65, global: false },
  ...more,
})
const page = (status: number) => ({ status, body: '<html>' })

/** What answers of Discord, of a proxy before it, and addresses mean. */
const meanings: readonly Meaning[] = [
  // The limit of a channel, and three of the bot or the address, which hold back everything.
  [limited({}), 'rate-limited retryable after 0.65 s'],
  [
    limited({ body: { message: 'x', retry_after: 64.57, global: true } }),
    'rate-limited retryable wholeService after 64.57 s',
  ],
  [
    limited({ headers: { 'x-ratelimit-global': 'true' } }),
    'rate-limited retryable wholeService after 0.65 s',
  ],
  [
    limited({ headers: { 'retry-after': '600' }, body: 'error code: 1015' }),
    'rate-limited retryable wholeService after 600 s',
  ],
  [refusal(403, 50001, 'Missing Access'), 'forbidden', /give it `View Channel` there \(403, 50001 /],
  [refusal(403, 50013, 'Missing Permissions'), 'forbidden'],
  [refusal(403, 99999, 'Something new'), 'forbidden'],
  [refusal(404, 10003, 'Unknown Channel'), 'bad-target'],
  [refusal(400, 50008, 'Cannot send messages in a non-text channel'), 'bad-target'],
  [refusal(400, 50006, 'Cannot send an empty message'), 'bad-request'],
  [refusal(400, 200000, 'Message was blocked'), 'forbidden'],
  [
    formError('content', 'BASE_TYPE_MAX_LENGTH'),
    'too-long',
    /\(400, 50035 Invalid Form Body, content: BASE_TYPE_MAX_LENGTH\)/,
  ],
  [formError('nonce', 'NONCE_TYPE_INVALID'), 'bad-request'],
  [refusal(404, 0, '404: Not Found'), 'bad-request'],
  [refusal(503, 130000, 'API resource is currently overloaded'), 'unavailable retryable'],
  [page(403), 'unavailable retryable'],
  [page(200), 'unavailable retryable maybeDelivered'],
  ['user:1500000000000000002', 'forbidden', /share a server with it and allow direct messages \(403, 50007 /],
  ['user:1599999999999999999', 'bad-target'],
]

test('each refusal says whether and when to try again, and what to fix', async () => {
  await using bed = await open()
  await bed.assertMeanings(meanings)
})

function refusal(status: number, code: number, message: string): FakeServerAnswer {
  return { status, body: { message, code } }
}

function formError(field: string, code: string): FakeServerAnswer {
  const errors = { [field]: { _errors: [{ code, message: 'It may quote what was sent.' }] } }
  return { status: 400, body: { message: 'Invalid Form Body', code: 50035, errors } }
}
