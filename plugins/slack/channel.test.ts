import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vendorConformance } from '@reveille/kit/conformance'
import { createSlackChannel, type SlackConfig } from './channel.ts'
import { openVendor, visibleText } from './fake-server/index.ts'
import { parseTarget } from './target.ts'

const plugin = new URL('./index.ts', import.meta.url)
const places = [
  ['C0123GENERAL', 'channel:C0123GENERAL', ' C0123GENERAL '],
  ['#general', '#General'],
  ['user:U0123ADA'],
  ['D0123ADA'],
  ['C0123GENERAL:thread:1700000000.000100', 'channel:C0123GENERAL:thread:1700000000.000100'],
]
const badAddresses = [
  ...['general', 'U0123ADA', 'C012', 'c0123general', '#a b', '#general:thread:1700000000.000100'],
  ...['@ada', 'C0123GENERAL:thread:17', 'user:C0123GENERAL'],
]

vendorConformance({
  name: 'the slack channel conforms',
  plugin,
  places,
  badAddresses,
  visibleText,
  open: () => openVendor(),
})

vendorConformance({
  name: 'the slack channel conforms in the older markup',
  plugin,
  places,
  badAddresses,
  visibleText,
  fences: false,
  open: () => openVendor({ format: 'mrkdwn' }),
})

test('a part that was rendered before the format was changed is sent as it was rendered', async (t) => {
  const vendor = await openVendor()
  t.after(() => vendor.close())
  const channelWith = (format: 'markdown' | 'mrkdwn') =>
    createSlackChannel({
      config: { ...(vendor.config as unknown as SlackConfig), format },
      fetch: globalThis.fetch,
      now: Date.now,
    })
  const [part] = channelWith('mrkdwn').render('See [the berth](https://example.org/b)')
  assert.ok(part)
  const signal = AbortSignal.timeout(10_000)
  await channelWith('markdown').send(part, { target: parseTarget(vendor.to), key: 'k', signal })
  assert.deepEqual(
    vendor.messages.map(({ text }) => text),
    ['See the berth'],
  )
})

test('the check names the bot and its workspace, and what to change where a server lacks `markdown_text`', async (t) => {
  const vendor = await openVendor()
  t.after(() => vendor.close())
  const config = { linkPreviews: false, ...vendor.config } as unknown as SlackConfig
  const channel = createSlackChannel({ config, fetch, now: Date.now })
  const { signal } = new AbortController()
  const detail = 'Slack knows the bot as reveille in the workspace Fake.'
  assert.deepEqual(await channel.check?.(signal), { ok: true, detail })
  vendor.script({ kind: 'answer', answer: { body: { ok: false, error: 'no_text' } } })
  const sending = channel.send({ text: 'Hello.' }, { target: parseTarget(vendor.to), key: 'k', signal })
  await assert.rejects(sending, /no_text.*set `format: mrkdwn`/)
})

test("the error for a person's name says where to find the id", () => {
  assert.throws(
    () => parseTarget('@ada'),
    /reaches a person by the id of their profile \(⋮ > Copy member ID\), as `user:U0123456789`/,
  )
})
