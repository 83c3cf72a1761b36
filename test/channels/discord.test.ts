import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DiscordAPIError, RateLimitError, REST } from '@discordjs/rest'
import { openBed } from '@reveille/kit/fake-server'
import { createDiscordChannel } from '../../plugins/discord/channel.ts'
import { openVendor } from '../../plugins/discord/fake-server/index.ts'

const dayMs = 86_400_000

/** Checks the fake server with a client that many bots use: `@discordjs/rest`. */
async function open() {
  const vendor = await openVendor()
  const { botToken, baseUrl } = vendor.config as { botToken: string; baseUrl: string }
  const options = {
    api: `${vendor.url}/api`,
    version: '10',
    retries: 0,
    rejectOnRateLimit: () => true,
    // The milliseconds that the client waits longer than asked.
    offset: 0,
    // The client has no timers of its own.
    hashSweepInterval: 0,
    handlerSweepInterval: 0,
    hashLifetime: dayMs,
  } as const
  const config = { botToken, baseUrl, linkPreviews: false }
  return {
    ...openBed(vendor, createDiscordChannel({ config, fetch, now: () => performance.now() })),
    rest: new REST(options).setToken(botToken),
    outsider: new REST(options).setToken(`${botToken.slice(0, -1)}9`),
  }
}

const room = '/channels/1400000000000000001/messages'

test('a mention by discord.js without `allowed_mentions` notifies, and one in a message of our channel does not', async () => {
  await using bed = await open()
  await bed.rest.post(room, { body: { content: 'Hello @everyone' } })
  await bed.send('Hello @everyone')
  const call = { target: bed.channel.target(bed.vendor.to), key: 'd:2', signal: new AbortController().signal }
  await bed.channel.send({ text: 'Hello @everyone' }, call)
  assert.equal(bed.vendor.messages.length, 3)
  assert.deepEqual(bed.vendor.pings, ['@everyone'])
})

test("the fake server's refusals are refusals to discord.js, with Discord's own codes", async () => {
  await using bed = await open()
  const { rest, outsider, vendor } = bed
  const post = (content: string, channel = '1400000000000000001') =>
    rest.post(`/channels/${channel}/messages`, { body: { content } })
  for (const [call, ...expected] of [
    [() => post('x', '1499999999999999999'), 404, 10003, 'Unknown Channel'],
    [() => post('x', '1400000000000000003'), 403, 50001, 'Missing Access'],
    [() => post(''), 400, 50006, 'Cannot send an empty message'],
    [() => post('x'.repeat(2001)), 400, 50035, 'Invalid Form Body'],
    [() => outsider.get('/users/@me'), 401, 0, '401: Unauthorized'],
  ] as const) {
    const error = await call().catch((reason: unknown) => reason)
    assert.ok(error instanceof DiscordAPIError, String(error))
    assert.deepEqual([error.status, error.code, error.message.split('\n')[0]], expected)
  }
  vendor.script({ kind: 'answer', answer: vendor.refusals.rateLimited(5) })
  const limited = await post('x').catch((reason: unknown) => reason)
  assert.ok(limited instanceof RateLimitError, String(limited))
  assert.deepEqual([limited.retryAfter, limited.global, limited.method], [5000, false, 'POST'])
  assert.deepEqual(vendor.messages, [])
})

test('the channel sends the same request as discord.js for the same message, which is stored once', async () => {
  await using bed = await open()
  const { rest, vendor } = bed
  const content = 'A **bold** word & a [page](https://example.org/).'
  const [receipt] = await bed.send(content)
  const [request] = vendor.requests
  assert.ok(request !== undefined)
  const { nonce } = request.json as { nonce: string }
  const body = { content, nonce, enforce_nonce: true, allowed_mentions: { parse: [] }, flags: 4 }
  const message = (await rest.post(room, { body })) as { id: string }
  assert.equal(message.id, receipt?.id)
  assert.deepEqual(
    vendor.messages.map(({ to, text }) => [to, text]),
    [['1400000000000000001', 'A bold word & a page.']],
  )
  const [ours, theirs] = vendor.requests.map(({ method, path, json, headers }) => ({
    method,
    path,
    json,
    authorization: headers['authorization'],
    type: headers['content-type']?.split(';')[0],
    agent: headers['user-agent']?.replace(/\(.*/, ''),
  }))
  assert.deepEqual(ours, theirs)
  assert.equal(((await rest.get('/users/@me')) as { username: string }).username, 'hooks')
})

test('a user is written to in the same channel that discord.js opens', async () => {
  await using bed = await open()
  const user = bed.vendor.userTo.slice('user:'.length)
  const opened = (await bed.rest.post('/users/@me/channels', { body: { recipient_id: user } })) as {
    id: string
  }
  await bed.send('Hello', bed.vendor.userTo)
  assert.equal(bed.vendor.messages[0]?.to, opened.id)
})
