/** Tests a refused credential that an operator fixes on a running gateway. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openVendor } from '../../plugins/slack/fake-server/index.ts'
import type { ChannelState } from '../../runtime/dispatch/index.ts'
import type { DeliveryRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { gatewayToken, hookToken, install, until } from '../installation.ts'

/** The number of replies, which is small because Slack takes one a second. */
const messages = ['one', 'two', 'three']

test('replies wait for a credential to be fixed, and are sent in order at the reload that fixes it', async (t) => {
  const slack = await openVendor()
  atEnd(t, () => slack.close())
  const configured = (botToken: unknown) => `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks: { enabled: true, token: ${hookToken} }
channels:
  slack: { botToken: ${botToken}, baseUrl: "${slack.config['baseUrl']}", defaultTo: "${slack.to}" }
`
  const { post, read, write, gateway, line, log } = await install(t, {
    'reveille.yaml': configured('xoxb-a-token-that-was-revoked'),
  })
  const channelNow = async () =>
    (await read<{ channels: ChannelState[] }>('/api/status')).channels.find(
      ({ channel }) => channel === 'slack',
    )
  const sends = () => slack.requests.filter(({ path }) => path.endsWith('chat.postMessage')).length
  const logged = await line('channel-check-failed')
  assert.equal(logged['channel'], 'slack')

  for (const message of messages) {
    const body = { message, deliver: true, channel: 'slack', wakeMode: 'next-heartbeat' }
    const { status } = await post('/hooks/agent', body)
    assert.equal(status, 202)
  }
  await line('channel-held')
  const pending = async () => (await read<{ items: DeliveryRecord[] }>('/api/deliveries')).items
  await until(async () => ((await pending()).length === messages.length ? true : undefined), 'all replies')
  assert.deepEqual(
    (await pending()).map(({ state, attempts }) => [state, attempts]),
    messages.map(() => ['pending', 0]),
  )
  const held = await channelNow()
  assert.deepEqual([held?.state, held?.code, held?.health?.ok, sends()], ['held', 'bad-credential', false, 1])

  await write('reveille.yaml', configured(slack.config['botToken']))
  assert.equal((await gateway.reload()).ok, true)
  await until(() => (slack.messages.length === messages.length ? true : undefined), 'all messages')
  assert.deepEqual(
    slack.messages.map(({ text }) => messages.find((message) => text.includes(message))),
    messages,
  )
  await line('channel-opened')
  await line('channel-checked')
  const open = await channelNow()
  assert.deepEqual([open?.state, open?.health?.ok], ['open', true])
  assert.doesNotMatch(log(), /xoxb-/)
})
