import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PluginError } from '@reveille/kit'
import { openBed } from '@reveille/kit/fake-server'
import { ErrorCode, WebClient } from '@slack/web-api'
import { createSlackChannel, type SlackConfig } from '../../plugins/slack/channel.ts'
import { openVendor } from '../../plugins/slack/fake-server/index.ts'

/** Starts the fake Slack, with Slack's own client and our channel connected to it. */
async function open(format: SlackConfig['format'] = 'markdown', fetch = globalThis.fetch) {
  const vendor = await openVendor({ format })
  const credentials = vendor.config as { botToken: string; baseUrl: string }
  const config: SlackConfig = { ...credentials, format, linkPreviews: false }
  const client = (token = config.botToken) =>
    new WebClient(token, {
      slackApiUrl: `${config.baseUrl}/`,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
    })
  return { ...openBed(vendor, createSlackChannel({ config, fetch, now: Date.now })), client }
}

const factsOf = ({ code, retryable, maybeDelivered, wholeService }: PluginError) =>
  [code, retryable, maybeDelivered, wholeService] as const
type Facts = ReturnType<typeof factsOf>

test("Slack's own client accepts the fake server as Slack", async () => {
  await using used = await open()
  const web = used.client()
  const { user, team } = await web.auth.test()
  assert.deepEqual([user, team], ['reveille', 'Fake'])

  const { channel } = await web.conversations.open({ users: 'U0123ADA' })
  const sent = await web.chat.postMessage({ channel: channel?.id ?? '', markdown_text: 'Hello, **Ada**.' })
  assert.deepEqual([sent.ok, sent.channel], [true, 'D0123ADA'])
  await web.chat.postMessage({ channel: '#general', text: 'Hello, *all*.', thread_ts: '1700000000.000100' })
  assert.deepEqual(
    used.vendor.messages.map(({ to, text, thread }) => [to, text, thread]),
    [
      ['D0123ADA', 'Hello, Ada.', undefined],
      ['C0123GENERAL', 'Hello, all.', '1700000000.000100'],
    ],
  )
})

test("Slack's own client recognises the fake server's refusals", async () => {
  await using used = await open()
  const { vendor, client } = used
  const message = { channel: 'C0123GENERAL', text: 'Hello.' }
  for (const [web, change, error] of [
    [client(''), {}, 'not_authed'],
    [client('xoxb-of-another-app'), {}, 'invalid_auth'],
    [client(), { channel: 'C0NOBODY00' }, 'channel_not_found'],
    [client(), { channel: 'C0123ARCHIVE' }, 'is_archived'],
    [client(), { channel: 'C0123FOREIGN' }, 'not_in_channel'],
    [client(), { text: ' ' }, 'no_text'],
    [client(), { text: undefined, markdown_text: 'x'.repeat(12_001) }, 'msg_too_long'],
    [client(), { markdown_text: 'Hello.' }, 'markdown_text_conflict'],
  ] as const) {
    const thrown = await web.chat.postMessage({ ...message, ...change } as never).catch((reason) => reason)
    assert.deepEqual([thrown.code, thrown.data?.error], [ErrorCode.PlatformError, error])
  }
  vendor.script({ kind: 'answer', answer: vendor.refusals.rateLimited(7) })
  await assert.rejects(client().chat.postMessage(message), {
    code: ErrorCode.RateLimitedError,
    retryAfter: 7,
  })
  assert.deepEqual(vendor.messages, [])
})

for (const [format, content] of [
  ['markdown', { markdown_text: 'All is **well**.' }],
  ['mrkdwn', { text: 'All is *well*.', link_names: false }],
] as const)
  test(`in ${format} our channel sends the same fields as Slack's own client, as JSON`, async () => {
    await using used = await open(format)
    const { vendor, client, send } = used
    await send('All is **well**.', 'C0123GENERAL:thread:1700000000.000100')
    const where = { channel: 'C0123GENERAL', thread_ts: '1700000000.000100' }
    await client().chat.postMessage({ ...where, unfurl_links: false, unfurl_media: false, ...content })
    const [ours, theirs] = vendor.requests
    assert.ok(ours !== undefined && theirs !== undefined)
    const written = Object.entries(ours.json as object).map(([name, value]) => [name, String(value)])
    assert.deepEqual(Object.fromEntries(written), Object.fromEntries(new URLSearchParams(theirs.text)))
    assert.deepEqual([ours.method, ours.path], [theirs.method, theirs.path])
    assert.equal(ours.headers['authorization'], theirs.headers['authorization'])
    assert.equal(ours.headers['content-type'], 'application/json; charset=utf-8', 'Slack warns of any other')
    const [first, second] = vendor.messages.map(({ ts: _, ...stored }) => stored)
    assert.deepEqual(first, second, 'what is stored is the same')
    assert.equal(first?.['previews'], false)
  })

test('a direct message is opened once, and again when Slack has forgotten it', async () => {
  await using used = await open()
  const { vendor, send, failure } = used
  const opened = () => vendor.requests.filter(({ path }) => path.endsWith('conversations.open')).length
  await send('One.', 'user:U0123ADA')
  await send('Two.', 'user:U0123ADA')
  assert.equal(opened(), 1)
  vendor.script({ kind: 'answer', answer: { body: { ok: false, error: 'channel_not_found' } } })
  assert.equal((await failure('user:U0123ADA', 'Three.')).retryable, false)
  await send('Three.', 'user:U0123ADA')
  assert.equal(opened(), 2)
  assert.deepEqual(
    vendor.messages.map(({ to, text }) => `${to}: ${text}`),
    ['D0123ADA: One.', 'D0123ADA: Two.', 'D0123ADA: Three.'],
  )
})

test('each error of Slack says whether and when a retry can help', async () => {
  await using used = await open()
  const { vendor, failure } = used
  const facts: Readonly<Record<string, Facts>> = {
    'token_expired account_inactive ekm_access_denied missing_scope': ['bad-credential', true, false, true],
    'channel_not_found is_archived': ['bad-target', false, false, false],
    'not_in_channel restricted_action_thread_locked': ['forbidden', false, false, false],
    msg_too_long: ['too-long', false, false, false],
    invalid_metadata_format: ['bad-request', false, false, false],
    ratelimited: ['rate-limited', true, false, false],
    rate_limited: ['rate-limited', true, false, true],
    service_unavailable: ['unavailable', true, false, false],
    'internal_error fatal_error': ['unavailable', true, true, false],
  }
  for (const [errors, expected] of Object.entries(facts))
    for (const error of errors.split(' ')) {
      vendor.script({ kind: 'answer', answer: { body: { ok: false, error, needed: 'chat:write' } } })
      const thrown = await failure()
      assert.deepEqual(factsOf(thrown), expected, error)
      assert.ok(thrown.message.includes(error), `${thrown.message} has the word to look for`)
    }
  assert.deepEqual(vendor.messages, [])
})

test('a conversation that could not be opened has delivered nothing, and others still receive messages', async () => {
  const body = (error: string) => Response.json({ ok: false, error, needed: 'im:write' })
  const cases: [answer: () => Response | Promise<Response>, expected: Facts][] = [
    [() => body('internal_error'), ['unavailable', true, false, false]],
    [() => body('missing_scope'), ['forbidden', false, false, false]],
    [() => body('invalid_auth'), ['bad-credential', true, false, true]],
    [() => Promise.reject(new TypeError('terminated')), ['network', true, false, false]],
  ]
  for (const [answer, expected] of cases) {
    await using used = await open('markdown', async () => answer())
    assert.deepEqual(factsOf(await used.failure('user:U0123ADA')), expected)
  }
})
