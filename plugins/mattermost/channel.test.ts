import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPluginError, PluginError } from '@reveille/kit'
import { vendorConformance } from '@reveille/kit/conformance'
import { type FakeVendor, openBed } from '@reveille/kit/fake-server'
import { createMattermostChannel, type MattermostConfig } from './channel.ts'
import { openVendor, visibleText } from './fake-server/index.ts'

const id = 'k4mrhtno5tdszd7oqhm5u1zx9o'
const post = '9nmyryd3ttnk3mzr8kd6ipzdgc'

vendorConformance({
  name: 'the mattermost channel conforms',
  plugin: new URL('./index.ts', import.meta.url),
  open: openVendor,
  visibleText,
  places: [
    [`channel:${'t'.repeat(26)}`, 't'.repeat(26), ` ${'t'.repeat(26)} `],
    [`user:${id}`],
    ['@ada.lovelace', '@Ada.Lovelace'],
    [`${id}:thread:${post}`, `channel:${id}:thread:${post}`],
  ],
  badAddresses: [
    'town-square',
    '#town-square',
    '@all',
    '@here',
    '@Channel',
    `user:@ada`,
    `${id}:thread:`,
    id.toUpperCase(),
  ],
})

const configOf = ({ config }: FakeVendor) =>
  ({ linkPreviews: false, ...config }) as unknown as MattermostConfig

async function open(change: Partial<MattermostConfig> = {}) {
  let now = Date.UTC(2026, 10, 21)
  const clock = {
    now: () => now,
    pass(ms: number) {
      now += ms
    },
  }
  const vendor = await openVendor({ now: clock.now })
  const config = { ...configOf(vendor), ...change }
  const channel = createMattermostChannel({ config, fetch, now: clock.now })
  const sent = () => vendor.requests.filter(({ path }) => path === '/api/v4/posts').map(({ json }) => json)
  return { ...openBed(vendor, channel), clock, sent }
}

test('a post carries the channel, the thread, and the delivery’s key as its pending id', async () => {
  await using used = await open()
  const { vendor, send, sent } = used
  const [receipt] = await send('Hello', vendor.threadTo)
  assert.deepEqual(sent(), [
    {
      channel_id: vendor.channelId,
      message: 'Hello',
      root_id: 'r'.repeat(26),
      pending_post_id: 'd:1',
    },
  ])
  assert.equal(receipt?.at, '2026-11-21T00:00:00.000Z')
})

test('a person’s direct channel is opened once, by name or by id', async () => {
  await using used = await open()
  const { vendor, send } = used
  for (const to of [`@${vendor.username}`, `user:${vendor.userId}`]) {
    await send('One', to, `${to}:1`)
    await send('Two', to, `${to}:2`)
  }
  assert.equal(new Set(vendor.messages.map(({ to }) => to)).size, 1, 'all are in one channel')
  const calls = vendor.requests.map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(
    calls.filter((call) => call !== 'POST /api/v4/posts'),
    [
      'GET /api/v4/users/username/ada',
      'GET /api/v4/users/me',
      'POST /api/v4/channels/direct',
      'POST /api/v4/channels/direct',
    ],
  )
})

test('a failed lookup has delivered nothing, and the next send repeats it', async () => {
  await using used = await open()
  const { vendor, channel, send } = used
  const others = createMattermostChannel({ config: configOf(vendor), fetch: cutOff, now: Date.now })
  const call = { target: channel.target('@ada'), key: 'd:1', signal: new AbortController().signal }
  await assert.rejects(
    others.send({ text: 'x' }, call),
    (error) => isPluginError(error) && error.retryable && !error.maybeDelivered,
  )
  await assert.rejects(send('Hello', `user:${'u'.repeat(26)}`), { code: 'bad-target' })
  await send('Hello', '@ada')
  assert.equal(vendor.messages.length, 1)
})

/** Creates the error of the host's fetch for a connection that was cut after the request was sent. */
async function cutOff(): Promise<never> {
  throw new PluginError('cut', { code: 'network', retryable: true, maybeDelivered: true })
}

test('the promised window ends before the server forgets', async () => {
  await using used = await open()
  const { vendor, channel, clock, send } = used
  await send('Once')
  clock.pass(channel.idempotency?.windowMs ?? 0)
  await send('Once')
  assert.equal(vendor.messages.length, 1)
  clock.pass(30_000)
  await send('Once')
  assert.equal(vendor.messages.length, 2, 'the fake server forgets as the server does')
})

test("a refusal becomes a sentence with the server's own error id", async () => {
  await using used = await open()
  const { vendor, channel, send } = used
  const { signal } = new AbortController()
  const long = { text: 'x'.repeat(16_384) }
  await assert.rejects(channel.send(long, { target: channel.target(vendor.to), key: 'd:1', signal }), {
    code: 'too-long',
    retryable: false,
    message: /message_length.*longer than this server takes/,
  })
  await assert.rejects(send('x', vendor.archivedId), { code: 'bad-target', message: /archived/ })
  await assert.rejects(send('x', id), {
    code: 'forbidden',
    message: /add the bot to the team and the channel/,
  })
  const nowhere = `${vendor.channelId}:thread:${post}`
  await assert.rejects(send('x', nowhere), { code: 'bad-target', message: /no such first post/ })
  await send('In a direct channel', '@ada', 'd:2')
  const root = 'r'.repeat(26)
  const elsewhere = `${vendor.messages[0]?.to}:thread:${root}`
  await assert.rejects(send('x', elsewhere), { code: 'bad-target', message: /another channel/ })
})

test('a post that is still being saved is retried, and so is one that was not saved', async () => {
  await using used = await open()
  const { vendor, send } = used
  const refusal = (error: string) => ({ status: 500, body: { id: error, message: 'No.', status_code: 500 } })
  const pending = refusal('api.post.deduplicate_create_post.pending')
  vendor.script({ kind: 'answer', answer: pending })
  await assert.rejects(send('x'), { code: 'unavailable', retryable: true, maybeDelivered: true })
  vendor.script({ kind: 'answer', answer: refusal('app.post.save.app_error') })
  await assert.rejects(send('x'), { code: 'unavailable', retryable: true, maybeDelivered: false })
})

test('a limit without Retry-After is waited out as its own header says', async () => {
  await using used = await open()
  const { vendor, send } = used
  const answer = { status: 429, headers: { 'x-ratelimit-reset': '3' }, body: 'limit exceeded' }
  vendor.script({ kind: 'answer', answer })
  await assert.rejects(send('x'), { code: 'rate-limited', retryAfter: 3, wholeService: true })
})

test('an address that is not a Mattermost server is reported as such, and no delivery is lost', async () => {
  await using used = await open()
  const { vendor, send } = used
  for (const answer of [
    { status: 404, body: '<html>Not here</html>' },
    { status: 200, body: '<html>Log in</html>' },
    { status: 404, body: { id: 'api.context.404.app_error', message: 'No.', status_code: 404 } },
  ]) {
    vendor.script({ kind: 'answer', answer })
    const facts = { code: 'unavailable', retryable: true, maybeDelivered: false }
    await assert.rejects(send('x'), { ...facts, message: /^What answers at `baseUrl` is not / })
  }
})

test('the base URL may have a path, a trailing slash, or the path of the API', async () => {
  for (const end of ['', '/', '/api/v4', '/api/v4/']) {
    await using used = await open()
    const baseUrl = `${used.vendor.url}${end}`
    const config = { ...configOf(used.vendor), baseUrl }
    const channel = createMattermostChannel({ config, fetch, now: Date.now })
    assert.deepEqual(await channel.check?.(new AbortController().signal), {
      ok: true,
      detail: 'The token belongs to @reveille.',
    })
  }
})
