import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createEmulator } from 'emulate'
import { createSlackChannel } from '../../plugins/slack/channel.ts'
import { openVendor } from '../../plugins/slack/fake-server/index.ts'
import { atEnd } from '../at-end.ts'

/** The emulator accepts any token, and has these conversations from the start. */
const botToken = 'xoxb-emulate'
const channelId = 'C000000001'

/** Starts the Slack of the package `emulate`, which others wrote from Slack's documentation, and returns its base URL. */
async function openEmulator(t: TestContext): Promise<string> {
  const emulator = await createEmulator({
    service: 'slack',
    port: 0,
    hostname: '127.0.0.1',
    seed: { slack: { team: { name: 'Acme' }, users: [{ name: 'ada' }] } },
  })
  atEnd(t, () => emulator.close())
  return `http://127.0.0.1:${new URL(emulator.url).port}/api`
}

async function ask(baseUrl: string, method: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${baseUrl}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Record<string, unknown>
}

async function open(t: TestContext, format: 'markdown' | 'mrkdwn') {
  const baseUrl = await openEmulator(t)
  const config = { botToken, baseUrl, format, linkPreviews: false }
  const channel = createSlackChannel({ config, fetch, now: Date.now })
  const authorization = `Bearer ${botToken}`
  return {
    channel,
    ask: (method: string, body: object) => ask(baseUrl, method, body, { authorization }),
    async send(to: string, markdown: string) {
      const { signal } = new AbortController()
      const ids: string[] = []
      for (const [index, part] of channel.render(markdown).entries()) {
        const call = { target: channel.target(to), key: `delivery:${index + 1}`, signal }
        ids.push((await channel.send(part, call)).id)
      }
      return ids
    },
  }
}

test('our messages arrive in the channel, the thread and the conversation that they are sent to', async (t) => {
  const { send, ask, channel } = await open(t, 'mrkdwn')
  const { ok, detail } = (await channel.check?.(new AbortController().signal)) ?? {}
  assert.deepEqual([ok, detail], [true, 'Slack knows the bot as admin in the workspace Acme.'])

  const [first = ''] = await send(
    channelId,
    'A **bold** word & a [page](https://example.org/a?b=1&c=2).\n\n- 1 < 2',
  )
  const ts = first.split(':')[1]
  await send(`${channelId}:thread:${ts}`, 'In the thread.')
  const { members } = await ask('users.list', {})
  const ada = (members as { id: string; name: string }[]).find(({ name }) => name === 'ada')
  const [direct = ''] = await send(`user:${ada?.id}`, 'For Ada alone.')

  const read = async (method: string, body: object) =>
    ((await ask(method, body))['messages'] as { text: string }[]).map(({ text }) => text)
  assert.deepEqual(await read('conversations.history', { channel: channelId }), [
    'A *bold* word &amp; a <https://example.org/a?b=1&amp;c=2|page>.\n\n• 1 &lt; 2',
  ])
  const replies = await read('conversations.replies', { channel: channelId, ts })
  assert.equal(replies.at(-1), 'In the thread.')
  const conversation = direct.split(':')[0] ?? ''
  assert.match(conversation, /^D/)
  assert.deepEqual(await read('conversations.history', { channel: conversation }), ['For Ada alone.'])
})

test('the emulator does not know `markdown_text`, and the error names the fix', async (t) => {
  const { send } = await open(t, 'markdown')
  await assert.rejects(send(channelId, 'Hello.'), /no_text.*set `format: mrkdwn`/)
})

test('the emulator refuses our messages as our fake server does', async (t) => {
  const emulate = await openEmulator(t)
  const vendor = await openVendor()
  atEnd(t, () => vendor.close())
  const { baseUrl, botToken: token } = vendor.config as { baseUrl: string; botToken: string }
  const wrong: [method: string, body: object, error: string][] = [
    ['chat.postMessage', { channel: 'C0NOBODY00', text: 'Hello.' }, 'channel_not_found'],
    ['chat.postMessage', { text: 'Hello.' }, 'channel_not_found'],
    ['conversations.open', { users: 'U0NOBODY00' }, 'user_not_found'],
  ]
  for (const [method, body, error] of wrong) {
    const refusal = { ok: false, error }
    assert.deepEqual(await ask(baseUrl, method, body, { authorization: `Bearer ${token}` }), refusal)
    assert.deepEqual(await ask(emulate, method, body, { authorization: `Bearer ${botToken}` }), refusal)
  }
  // Each server has a channel of its own.
  const empty = { ok: false, error: 'no_text' }
  assert.deepEqual(
    await ask(baseUrl, 'chat.postMessage', { channel: 'C0123GENERAL' }, { authorization: `Bearer ${token}` }),
    empty,
  )
  assert.deepEqual(
    await ask(emulate, 'chat.postMessage', { channel: channelId }, { authorization: `Bearer ${botToken}` }),
    empty,
  )
  for (const method of ['auth.test', 'chat.postMessage', 'conversations.open']) {
    const refusal = { ok: false, error: 'not_authed' }
    assert.deepEqual(await ask(baseUrl, method, {}), refusal)
    assert.deepEqual(await ask(emulate, method, {}), refusal)
  }
})
