import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client4 } from '@mattermost/client'
import { createMattermostChannel, type MattermostConfig } from '../../plugins/mattermost/channel.ts'
import { openVendor } from '../../plugins/mattermost/fake-server/index.ts'

/** Connects Mattermost's own client and our channel to the fake server. */
async function open() {
  const vendor = await openVendor()
  const config = vendor.config as unknown as MattermostConfig
  const client = new Client4()
  client.setUrl(vendor.url)
  client.setToken(config.token)
  const channel = createMattermostChannel({ config, fetch, now: Date.now })
  async function send(text: string, to: string, key: string) {
    const { signal } = new AbortController()
    return channel.send({ text }, { target: channel.target(to), key, signal })
  }
  const posted = () => vendor.requests.filter(({ path }) => path === '/api/v4/posts')
  return { vendor, client, send, posted, [Symbol.asyncDispose]: () => vendor.close() }
}

type NewPost = Parameters<Client4['createPost']>[0]

test('Mattermost’s own client posts to the fake server, and our channel sends the same', async () => {
  await using used = await open()
  const { vendor, client, send, posted } = used
  const [, rootId = ''] = vendor.threadTo?.split(':thread:') ?? []
  const post = {
    channel_id: vendor.channelId,
    message: 'Hello',
    root_id: rootId,
    pending_post_id: 'delivery:1',
  }
  const created = await client.createPost(post as NewPost)
  assert.equal(created.message, 'Hello')
  assert.equal(created.root_id, rootId)
  await send('Hello', String(vendor.threadTo), 'delivery:1')
  const [theirs, ours] = posted()
  assert.ok(theirs && ours)
  assert.deepEqual(ours.json, theirs.json)
  assert.equal(ours.headers['authorization']?.toLowerCase(), theirs.headers['authorization']?.toLowerCase())
  assert.equal(vendor.messages.length, 1, 'one pending id is one post, whichever client sends it')
})

test('Mattermost’s own client finds the user, and opens the same direct channel as our plugin', async () => {
  await using used = await open()
  const { vendor, client, send } = used
  await send('Hello', `@${vendor.username}`, 'delivery:1')
  const [me, user] = [await client.getMe(), await client.getUserByUsername(vendor.username)]
  const direct = await client.createDirectChannel([me.id, user.id])
  assert.equal(vendor.messages[0]?.to, direct.id)
})

test('Mattermost’s own client reads the fake server’s refusals as its server’s', async () => {
  await using used = await open()
  const { vendor, client } = used
  const refusal = (post: object) =>
    client.createPost(post as NewPost).then(
      () => assert.fail('it is refused'),
      ({ status_code, server_error_id }) => [status_code, server_error_id],
    )
  assert.deepEqual(await refusal({ channel_id: vendor.channelId, message: 'x'.repeat(16_384) }), [
    400,
    'model.post.is_valid.message_length.app_error',
  ])
  assert.deepEqual(await refusal({ channel_id: vendor.archivedId, message: 'x' }), [
    400,
    'api.post.create_post.can_not_post_to_deleted.error',
  ])
  assert.deepEqual(await refusal({ channel_id: 'u'.repeat(26), message: 'x' }), [
    403,
    'api.context.permissions.app_error',
  ])
  client.setToken('another')
  assert.deepEqual(await refusal({ channel_id: vendor.channelId, message: 'x' }), [
    401,
    'api.context.session_expired.app_error',
  ])
})
