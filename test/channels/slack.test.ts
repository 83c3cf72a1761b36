import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { isPluginError } from '@reveille/kit'
import { ErrorCode, WebClient } from '@slack/web-api'
import { createSlackChannel, type SlackConfig } from '../../plugins/slack/channel.ts'
import { openVendor } from '../../plugins/slack/fake-server/index.ts'
import { atEnd } from '../at-end.ts'

/** Starts the fake Slack, with Slack's own client and our channel connected to it. */
async function open(t: TestContext, format: SlackConfig['format'] = 'markdown') {
  const vendor = await openVendor({ format })
  atEnd(t, () => vendor.close())
  const config: SlackConfig = {
    ...(vendor.config as { botToken: string; baseUrl: string }),
    format,
    linkPreviews: false,
  }
  const client = (token: string | undefined = config.botToken) =>
    new WebClient(token, {
      slackApiUrl: `${config.baseUrl}/`,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
    })
  const channel = createSlackChannel({ config, fetch, now: Date.now })
  async function send(to: string, markdown: string) {
    const [part] = channel.render(markdown)
    assert.ok(part !== undefined)
    const { signal } = new AbortController()
    return channel.send(part, { target: channel.target(to), key: 'delivery:1', signal })
  }
  return { vendor, client, send }
}

test("Slack's own client accepts the fake server as Slack", async (t) => {
  const { vendor, client } = await open(t)
  const web = client()
  const { user, team } = await web.auth.test()
  assert.deepEqual([user, team], ['reveille', 'Fake'])

  const { channel } = await web.conversations.open({ users: 'U0123ADA' })
  const sent = await web.chat.postMessage({ channel: channel?.id ?? '', markdown_text: 'Hello, **Ada**.' })
  assert.deepEqual([sent.ok, sent.channel], [true, 'D0123ADA'])
  await web.chat.postMessage({ channel: '#general', text: 'Hello, *all*.', thread_ts: '1700000000.000100' })

  const stored = vendor.messages.map(({ to, text, thread }) => ({ to, text, thread }))
  assert.deepEqual(stored, [
    { to: 'D0123ADA', text: 'Hello, Ada.', thread: undefined },
    { to: 'C0123GENERAL', text: 'Hello, all.', thread: '1700000000.000100' },
  ])
})

test("Slack's own client recognises the fake server's refusals", async (t) => {
  const { vendor, client } = await open(t)
  const message = { channel: 'C0123GENERAL', text: 'Hello.' }
  const refusals: [web: WebClient, body: Parameters<WebClient['chat']['postMessage']>[0], error: string][] = [
    [client(''), message, 'not_authed'],
    [client('xoxb-of-another-app'), message, 'invalid_auth'],
    [client(), { ...message, channel: 'C0NOBODY00' }, 'channel_not_found'],
    [client(), { ...message, channel: 'C0123ARCHIVE' }, 'is_archived'],
    [client(), { ...message, channel: 'C0123FOREIGN' }, 'not_in_channel'],
    [client(), { ...message, text: ' ' }, 'no_text'],
    [client(), { channel: 'C0123GENERAL', markdown_text: 'x'.repeat(12_001) }, 'msg_too_long'],
    [client(), { ...message, markdown_text: 'Hello.' } as never, 'markdown_text_conflict'],
  ]
  for (const [web, body, error] of refusals) {
    await assert.rejects(web.chat.postMessage(body), (thrown: { code: string; data: { error: string } }) => {
      assert.deepEqual([thrown.code, thrown.data.error], [ErrorCode.PlatformError, error])
      return true
    })
  }
  vendor.script({ kind: 'answer', answer: vendor.refusals.rateLimited(7) })
  await assert.rejects(client().chat.postMessage(message), {
    code: ErrorCode.RateLimitedError,
    retryAfter: 7,
  })
  assert.deepEqual(vendor.messages, [])
})

test("our channel sends the same fields as Slack's own client", async (t) => {
  for (const format of ['markdown', 'mrkdwn'] as const) {
    const { vendor, client, send } = await open(t, format)
    const to = 'C0123GENERAL:thread:1700000000.000100'
    await send(to, 'All is **well**.')
    await client().chat.postMessage({
      channel: 'C0123GENERAL',
      thread_ts: '1700000000.000100',
      unfurl_links: false,
      unfurl_media: false,
      ...(format === 'markdown'
        ? { markdown_text: 'All is **well**.' }
        : { text: 'All is *well*.', link_names: false }),
    })
    const [ours, theirs] = vendor.requests
    assert.ok(ours !== undefined && theirs !== undefined)
    const written = Object.entries(ours.json as object).map(([name, value]) => [name, String(value)])
    assert.deepEqual(Object.fromEntries(written), Object.fromEntries(new URLSearchParams(theirs.text)))
    for (const name of ['authorization'] as const) assert.equal(ours.headers[name], theirs.headers[name])
    assert.deepEqual([ours.method, ours.path], [theirs.method, theirs.path])
    const [first, second] = vendor.messages.map(({ ts: _, ...stored }) => stored)
    assert.deepEqual(first, second, 'what is stored is the same')
  }
})

test('a direct message is opened once, and again when Slack has forgotten it', async (t) => {
  const { vendor, send } = await open(t)
  const opened = () => vendor.requests.filter(({ path }) => path.endsWith('conversations.open')).length
  await send('user:U0123ADA', 'One.')
  await send('user:U0123ADA', 'Two.')
  assert.equal(opened(), 1)
  vendor.script({ kind: 'answer', answer: { body: { ok: false, error: 'channel_not_found' } } })
  await assert.rejects(send('user:U0123ADA', 'Three.'), (error) => isPluginError(error) && !error.retryable)
  await send('user:U0123ADA', 'Three.')
  assert.equal(opened(), 2)
  assert.deepEqual(
    vendor.messages.map(({ to, text }) => `${to}: ${text}`),
    ['D0123ADA: One.', 'D0123ADA: Two.', 'D0123ADA: Three.'],
  )
})

test('an answer of Slack carries no warning', async (t) => {
  const { vendor, send } = await open(t)
  await send('C0123GENERAL', 'Hello.')
  assert.equal(vendor.requests[0]?.headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(vendor.messages[0]?.['previews'], false)
})

test('each error of Slack says whether and when a retry can help', async (t) => {
  const { vendor, send } = await open(t)
  type Facts = [code: string, retryable: boolean, maybeDelivered: boolean, wholeService: boolean]
  const credential: Facts = ['bad-credential', true, false, true]
  const nobody: Facts = ['bad-target', false, false, false]
  const forbidden: Facts = ['forbidden', false, false, false]
  const errors: Readonly<Record<string, Facts>> = {
    token_expired: credential,
    account_inactive: credential,
    ekm_access_denied: credential,
    missing_scope: credential,
    channel_not_found: nobody,
    is_archived: nobody,
    not_in_channel: forbidden,
    restricted_action_thread_locked: forbidden,
    msg_too_long: ['too-long', false, false, false],
    invalid_metadata_format: ['bad-request', false, false, false],
    ratelimited: ['rate-limited', true, false, false],
    rate_limited: ['rate-limited', true, false, true],
    service_unavailable: ['unavailable', true, false, false],
    internal_error: ['unavailable', true, true, false],
    fatal_error: ['unavailable', true, true, false],
  }
  for (const [error, facts] of Object.entries(errors)) {
    vendor.script({ kind: 'answer', answer: { body: { ok: false, error, needed: 'chat:write' } } })
    await assert.rejects(send('C0123GENERAL', 'Hello.'), (thrown) => {
      assert.ok(isPluginError(thrown))
      const { code, retryable, maybeDelivered, wholeService, message } = thrown
      assert.deepEqual([code, retryable, maybeDelivered, wholeService], facts, error)
      assert.ok(message.includes(error), `${message} has the word to look for`)
      return true
    })
  }
  assert.deepEqual(vendor.messages, [])
})

test('a conversation that could not be opened has delivered nothing, and others still receive messages', async (t) => {
  const vendor = await openVendor()
  atEnd(t, () => vendor.close())
  const failing = (answer: () => Response | Promise<Response>) => {
    const config = {
      ...(vendor.config as { botToken: string; baseUrl: string }),
      format: 'markdown',
      linkPreviews: false,
    } as const
    const channel = createSlackChannel({ config, fetch: async () => answer(), now: Date.now })
    const call = {
      target: channel.target('user:U0123ADA'),
      key: 'delivery:1',
      signal: new AbortController().signal,
    }
    return channel.send({ text: 'Hello.' }, call)
  }
  const body = (error: string) => Response.json({ ok: false, error, needed: 'im:write' })
  const cases: [answer: () => Response | Promise<Response>, facts: [string, boolean, boolean, boolean]][] = [
    [() => body('internal_error'), ['unavailable', true, false, false]],
    [() => body('missing_scope'), ['forbidden', false, false, false]],
    [() => body('invalid_auth'), ['bad-credential', true, false, true]],
    [() => Promise.reject(new TypeError('terminated')), ['network', true, false, false]],
  ]
  for (const [answer, facts] of cases) {
    await assert.rejects(failing(answer), (thrown) => {
      assert.ok(isPluginError(thrown))
      const { code, retryable, maybeDelivered, wholeService } = thrown
      assert.deepEqual([code, retryable, maybeDelivered, wholeService], facts)
      return true
    })
  }
})
