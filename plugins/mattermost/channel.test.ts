import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PluginError } from '@reveille/kit'
import { vendorConformance } from '@reveille/kit/conformance'
import { factsOf, openBed } from '@reveille/kit/fake-server'
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
    ...['town-square', '#town-square', '@all', '@here', '@Channel'],
    ...[`user:@ada`, `${id}:thread:`, id.toUpperCase()],
  ],
})

async function open(change: Partial<MattermostConfig> = {}, end = '') {
  let now = Date.UTC(2026, 10, 21)
  const clock = {
    now: () => now,
    pass(ms: number) {
      now += ms
    },
  }
  const vendor = await openVendor({ now: clock.now })
  const baseUrl = `${vendor.url}${end}`
  const config = { linkPreviews: false, ...vendor.config, baseUrl, ...change } as unknown as MattermostConfig
  const channel = createMattermostChannel({ config, fetch, now: clock.now })
  const sent = () => vendor.requests.filter(({ path }) => path === '/api/v4/posts').map(({ json }) => json)
  return { ...openBed(vendor, channel), config, clock, sent }
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
      ...['GET /api/v4/users/username/ada', 'GET /api/v4/users/me'],
      ...['POST /api/v4/channels/direct', 'POST /api/v4/channels/direct'],
    ],
  )
})

test('a failed lookup has delivered nothing, and the next send repeats it', async () => {
  await using used = await open()
  const { vendor, config, send, failure } = used
  // The error of the host's fetch for a connection that was cut after the request was sent.
  const cut = new PluginError('cut', { code: 'network', retryable: true, maybeDelivered: true })
  const cutOff = createMattermostChannel({ config, fetch: () => Promise.reject(cut), now: Date.now })
  assert.equal(factsOf(await openBed(vendor, cutOff).failure('@ada')), 'network retryable')
  assert.equal(factsOf(await failure(`user:${'u'.repeat(26)}`)), 'bad-target')
  await send('Hello', '@ada')
  assert.equal(vendor.messages.length, 1)
})

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

const own = (status: number, error: string) => {
  return { status, body: { id: error, message: 'No.', status_code: status } }
}
const elsewhere = /^What answers at `baseUrl` is not /

test("each refusal says whether and when to try again, with the server's own error id", async () => {
  await using used = await open()
  const { vendor, channel, send } = used
  await send('In a direct channel', '@ada', 'd:2')
  await used.assertMeanings([
    [vendor.archivedId, 'bad-target', /archived/],
    [id, 'forbidden', /add the bot to the team and the channel/],
    [`${vendor.channelId}:thread:${post}`, 'bad-target', /no such first post/],
    [`${vendor.messages[0]?.to}:thread:${'r'.repeat(26)}`, 'bad-target', /another channel/],
    [own(500, 'api.post.deduplicate_create_post.pending'), 'unavailable retryable maybeDelivered'],
    [own(500, 'app.post.save.app_error'), 'unavailable retryable'],
    [
      { status: 429, headers: { 'x-ratelimit-reset': '3' }, body: 'limit exceeded' },
      'rate-limited retryable wholeService after 3 s',
    ],
    // An address that is not a Mattermost server.
    [{ status: 404, body: '<html>Not here</html>' }, 'unavailable retryable wholeService', elsewhere],
    [{ status: 200, body: '<html>Log in</html>' }, 'unavailable retryable', elsewhere],
    [own(404, 'api.context.404.app_error'), 'unavailable retryable wholeService', elsewhere],
  ])
  const call = { target: channel.target(vendor.to), key: 'd:1', signal: new AbortController().signal }
  await assert.rejects(channel.send({ text: 'x'.repeat(16_384) }, call), {
    code: 'too-long',
    retryable: false,
    message: /message_length.*longer than this server takes/,
  })
})

for (const end of ['', '/', '/api/v4', '/api/v4/'])
  test(`the base URL may end with "${end}"`, async () => {
    await using used = await open({}, end)
    assert.deepEqual(await used.check(), { ok: true, detail: 'The token belongs to @reveille.' })
  })
