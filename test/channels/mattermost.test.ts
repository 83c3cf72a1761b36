import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client4 } from '@mattermost/client'
import { openBed } from '@reveille/kit/fake-server'
import { createMattermostChannel, type MattermostConfig } from '../../plugins/mattermost/channel.ts'
import { openVendor } from '../../plugins/mattermost/fake-server/index.ts'

/** Connects Mattermost's own client and our channel to the fake server. */
async function open() {
  const vendor = await openVendor()
  const config = vendor.config as unknown as MattermostConfig
  const client = new Client4()
  client.setUrl(vendor.url)
  client.setToken(config.token)
  const posted = () => vendor.requests.filter(({ path }) => path === '/api/v4/posts')
  return { ...openBed(vendor, createMattermostChannel({ config, fetch, now: Date.now })), client, posted }
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
    pending_post_id: 'd:1',
  }
  const created = await client.createPost(post as NewPost)
  assert.equal(created.message, 'Hello')
  assert.equal(created.root_id, rootId)
  await send('Hello', vendor.threadTo)
  const [theirs, ours] = posted()
  assert.ok(theirs && ours)
  assert.deepEqual(ours.json, theirs.json)
  assert.equal(ours.headers['authorization']?.toLowerCase(), theirs.headers['authorization']?.toLowerCase())
  assert.equal(vendor.messages.length, 1, 'one pending id is one post, whichever client sends it')
})

test('Mattermost’s own client finds the user, and opens the same direct channel as our plugin', async () => {
  await using used = await open()
  const { vendor, client, send } = used
  await send('Hello', `@${vendor.username}`)
  const [me, user] = [await client.getMe(), await client.getUserByUsername(vendor.username)]
  const direct = await client.createDirectChannel([me.id, user.id])
  assert.equal(vendor.messages[0]?.to, direct.id)
})

test('Mattermost’s own client reads the fake server’s refusals as its server’s', async () => {
  await using used = await open()
  const { vendor, client } = used
  const { channelId } = vendor
  for (const [channel_id, message, ...expected] of [
    [channelId, 'x'.repeat(16_384), 400, 'model.post.is_valid.message_length.app_error'],
    [vendor.archivedId, 'x', 400, 'api.post.create_post.can_not_post_to_deleted.error'],
    ['u'.repeat(26), 'x', 403, 'api.context.permissions.app_error'],
    [channelId, 'x', 401, 'api.context.session_expired.app_error'],
  ] as const) {
    if (expected[0] === 401) client.setToken('another')
    const refused = await client.createPost({ channel_id, message } as NewPost).then(
      () => assert.fail('it is refused'),
      ({ status_code, server_error_id }) => [status_code, server_error_id],
    )
    assert.deepEqual(refused, expected)
  }
})
