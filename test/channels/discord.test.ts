import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DiscordAPIError, RateLimitError, REST } from '@discordjs/rest'
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
  return {
    vendor,
    rest: new REST(options).setToken(botToken),
    outsider: new REST(options).setToken(`${botToken.slice(0, -1)}9`),
    channel: createDiscordChannel({
      config: { botToken, baseUrl, linkPreviews: false },
      fetch,
      now: () => performance.now(),
    }),
    [Symbol.asyncDispose]: () => vendor.close(),
  }
}

const room = '/channels/1400000000000000001/messages'
const nowhere = '/channels/1499999999999999999/messages'
const hidden = '/channels/1400000000000000003/messages'

async function refusalOf(call: Promise<unknown>) {
  const error = await call.catch((reason: unknown) => reason)
  assert.ok(error instanceof DiscordAPIError, String(error))
  return [error.status, error.code, error.message.split('\n')[0]]
}

test('the fake server knows the bot of discord.js, stores its message and answers it', async () => {
  await using bed = await open()
  const self = (await bed.rest.get('/users/@me')) as { username: string }
  assert.equal(self.username, 'hooks')
  const message = (await bed.rest.post(room, { body: { content: 'Hello **Ada**' } })) as { id: string }
  assert.deepEqual(
    bed.vendor.messages.map(({ id, to, text }) => [id, to, text]),
    [[message.id, '1400000000000000001', 'Hello Ada']],
  )
})

test('a mention by discord.js without `allowed_mentions` notifies, and one in a message of our channel does not', async () => {
  await using bed = await open()
  await bed.rest.post(room, { body: { content: 'Hello @everyone' } })
  assert.deepEqual(bed.vendor.pings, ['@everyone'])
  const [part] = bed.channel.render('Hello @everyone')
  assert.ok(part !== undefined)
  const call = { target: bed.channel.target(bed.vendor.to), signal: new AbortController().signal }
  await bed.channel.send(part, { ...call, key: 'd:1' })
  await bed.channel.send({ text: 'Hello @everyone' }, { ...call, key: 'd:2' })
  assert.equal(bed.vendor.messages.length, 3)
  assert.deepEqual(bed.vendor.pings, ['@everyone'])
})

test("the fake server's refusals are refusals to discord.js, with Discord's own codes", async () => {
  await using bed = await open()
  const { rest, outsider, vendor } = bed
  assert.deepEqual(await refusalOf(rest.post(nowhere, { body: { content: 'x' } })), [
    404,
    10003,
    'Unknown Channel',
  ])
  assert.deepEqual(await refusalOf(rest.post(hidden, { body: { content: 'x' } })), [
    403,
    50001,
    'Missing Access',
  ])
  assert.deepEqual(await refusalOf(rest.post(room, { body: { content: '' } })), [
    400,
    50006,
    'Cannot send an empty message',
  ])
  assert.deepEqual(await refusalOf(rest.post(room, { body: { content: 'x'.repeat(2001) } })), [
    400,
    50035,
    'Invalid Form Body',
  ])
  assert.deepEqual(await refusalOf(outsider.get('/users/@me')), [401, 0, '401: Unauthorized'])
  assert.deepEqual(vendor.messages, [])
})

test('discord.js recognises a rate limit and its time', async () => {
  await using bed = await open()
  bed.vendor.script({ kind: 'answer', answer: bed.vendor.refusals.rateLimited(5) })
  const error = await bed.rest.post(room, { body: { content: 'x' } }).catch((reason: unknown) => reason)
  assert.ok(error instanceof RateLimitError, String(error))
  assert.deepEqual([error.retryAfter, error.global, error.method], [5000, false, 'POST'])
})

test('the channel sends the same request as discord.js for the same message, which is stored once', async () => {
  await using bed = await open()
  const { rest, channel, vendor } = bed
  const [part] = channel.render('A **bold** word & a [page](https://example.org/).')
  assert.ok(part !== undefined)
  const call = { target: channel.target(vendor.to), key: 'd:1', signal: new AbortController().signal }
  const receipt = await channel.send(part, call)
  const [request] = vendor.requests
  assert.ok(request !== undefined)
  const { nonce } = request.json as { nonce: string }
  const content = 'A **bold** word & a [page](https://example.org/).'
  const body = { content, nonce, enforce_nonce: true, allowed_mentions: { parse: [] }, flags: 4 }
  const message = (await rest.post(room, { body })) as { id: string }
  assert.equal(message.id, receipt.id)
  assert.equal(vendor.messages.length, 1)
  const [ours, theirs] = vendor.requests.map(({ method, path, json, headers }) => ({
    method,
    path,
    json,
    authorization: headers['authorization'],
    type: headers['content-type']?.split(';')[0],
    agent: headers['user-agent']?.replace(/\(.*/, ''),
  }))
  assert.deepEqual(ours, theirs)
})

test('a user is written to in the same channel that discord.js opens', async () => {
  await using bed = await open()
  const { rest, channel, vendor } = bed
  const user = vendor.userTo.slice('user:'.length)
  const opened = (await rest.post('/users/@me/channels', { body: { recipient_id: user } })) as { id: string }
  const target = channel.target(vendor.userTo)
  await channel.send({ text: 'Hello' }, { target, key: 'd:1', signal: new AbortController().signal })
  assert.equal(vendor.messages[0]?.to, opened.id)
})
