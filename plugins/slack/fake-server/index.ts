/** A fake of Slack's Web API: it knows one workspace, remembers what is posted, and refuses what Slack would refuse. */

import type { Part } from '@reveille/kit'
import {
  type FakeServerAnswer,
  type FakeServerRequest,
  type FakeVendor,
  openFakeServer,
  type VendorMessage,
  withRetryAfter,
} from '@reveille/kit/fake-server'
import { readMarkdown, readMrkdwn } from './markup.ts'

export interface FakeSlackOptions {
  /** The `format` in the configuration that it offers. Default: `markdown`. */
  readonly format?: 'markdown' | 'mrkdwn'
}

/** Returns what a person reads of a part. */
export function visibleText(part: Part): string {
  return part['format'] === 'mrkdwn' ? readMrkdwn(part.text) : readMarkdown(part.text)
}

export async function openVendor({ format = 'markdown' }: FakeSlackOptions = {}): Promise<FakeVendor> {
  const workspace = createWorkspace()
  const methods: Readonly<Record<string, (fields: Fields) => object>> = {
    'auth.test': workspace.authTest,
    'chat.postMessage': workspace.postMessage,
    'conversations.open': workspace.openConversation,
  }

  const fakeServer = await openFakeServer({
    isSend: ({ path }) => path === '/api/chat.postMessage',
    answer(request) {
      const [, name = ''] = /^\/api\/([\w.]+)$/.exec(request.path) ?? []
      if (name === '') return { status: 404, body: '<html>Not found</html>' }
      const method = methods[name]
      if (method === undefined) return refuse('unknown_method')
      const read = fieldsOf(request)
      if ('error' in read) return refuse(read.error)
      const token = tokenOf(request, read.fields)
      if (token === undefined) return refuse('not_authed')
      if (token !== botToken) return refuse('invalid_auth')
      return { body: { ...method(read.fields), ...read.warning } }
    },
  })

  return {
    ...fakeServer,
    messages: workspace.messages,
    pings: workspace.pings,
    config: { botToken, baseUrl: `${fakeServer.url}/api`, format },
    secrets: [botToken],
    to: existing.channel,
    unknownTo: 'C0NOBODY00',
    threadTo: `${existing.channel}:thread:1700000000.000100`,
    refusals: {
      badCredential: refuse('token_revoked'),
      forbidden: refuse('not_in_channel'),
      rateLimited: (seconds) =>
        withRetryAfter({ status: 429, body: { ok: false, error: 'ratelimited' } }, seconds),
      serverError: refuse('internal_error'),
    },
  }
}

function refuse(error: string): FakeServerAnswer {
  return { body: { ok: false, error } }
}

/** Returns the token of the header, or else the `token` field of a form. */
function tokenOf({ headers }: FakeServerRequest, fields: Fields): string | undefined {
  const [, token] = /^Bearer (\S+)$/i.exec(headers['authorization'] ?? '') ?? []
  return token ?? (typeof fields['token'] === 'string' ? fields['token'] : undefined)
}

type Fields = Readonly<Record<string, unknown>>

type ReadBody = { readonly fields: Fields; readonly warning?: object } | { readonly error: string }

function fieldsOf({ headers, text, json }: FakeServerRequest): ReadBody {
  const type = headers['content-type'] ?? ''
  if (type === '' && text === '') return { fields: {} }
  if (/^application\/json\b/i.test(type)) {
    if (json === undefined) return { error: 'invalid_json' }
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return { error: 'json_not_object' }
    return { fields: json as Fields, ...(!/;\s*charset=utf-8/i.test(type) && { warning: missingCharset }) }
  }
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return { fields: fieldsOfForm(text) }
  return { error: type === '' ? 'missing_post_type' : 'invalid_post_type' }
}

const missingCharset = { warning: 'missing_charset', response_metadata: { warnings: ['missing_charset'] } }

/** Reads a form, which has only texts and writes booleans as words. */
function fieldsOfForm(text: string): Fields {
  const read = (value: string) => (value === 'true' || value === 'false' ? value === 'true' : value)
  return Object.fromEntries(Array.from(new URLSearchParams(text), ([name, value]) => [name, read(value)]))
}

const botToken = 'xoxb-fake-0123456789-AbCdEfGh'

/** The conversations and users of the workspace. */
const existing = {
  channel: 'C0123GENERAL',
  name: '#general',
  archived: 'C0123ARCHIVE',
  /** A channel that the bot is not in. */
  foreign: 'C0123FOREIGN',
  user: 'U0123ADA',
  /** The direct message with `user`. */
  direct: 'D0123ADA',
} as const

/** Maximum length of a message, in characters. Slack silently cuts a longer `text` and refuses a longer `markdown_text`. */
const longest = { text: 40_000, markdown: 12_000 }

function createWorkspace() {
  const messages: VendorMessage[] = []
  const pings: string[] = []
  const opened = new Set<string>()

  function postMessage(fields: Fields): object {
    const { channel, text, markdown_text: markdown, blocks, thread_ts: thread } = fields
    const place = findPlace(channel)
    if ('error' in place) return place
    if (markdown !== undefined && (text !== undefined || blocks !== undefined))
      return no('markdown_text_conflict')
    const source = markdown ?? text
    if (typeof source !== 'string' || source.trim() === '') return no('no_text')
    if (markdown !== undefined && source.length > longest.markdown) return no('msg_too_long')
    if (thread !== undefined && !/^\d{10}\.\d{6}$/.test(String(thread))) return no('cannot_reply_to_message')

    const stored = source.slice(0, longest.text)
    const ts = `1700000000.${String(messages.length + 200).padStart(6, '0')}`
    const shown = markdown === undefined ? readMrkdwn(stored) : readMarkdown(stored)
    pings.push(...pingsOf(stored, shown))
    const { unfurl_links: unfurlLinks, unfurl_media: unfurlMedia } = fields
    const previews = unfurlLinks !== false || unfurlMedia !== false
    messages.push({
      to: place.id,
      text: shown,
      ts,
      source: stored,
      previews,
      ...(thread !== undefined && { thread }),
    })
    const message = { type: 'message', text: stored, ts, bot_id: 'B0123FAKE' }
    return { ok: true, channel: place.id, ts, message }
  }

  function openConversation({ users }: Fields): object {
    if (typeof users !== 'string' || users === '') return no('users_list_not_supplied')
    if (users !== existing.user) return no('user_not_found')
    const isOpen = opened.has(users)
    opened.add(users)
    return { ok: true, ...(isOpen && { no_op: true, already_open: true }), channel: { id: existing.direct } }
  }

  return {
    messages,
    pings,
    postMessage,
    openConversation,
    authTest: (): object => ({
      ok: true,
      url: 'https://fake-server.slack.com/',
      team: 'Fake',
      user: 'reveille',
      team_id: 'T0123FAKE',
      user_id: 'U0123FAKE',
      bot_id: 'B0123FAKE',
    }),
  }
}

function findPlace(
  channel: unknown,
): { readonly id: string } | { readonly ok: false; readonly error: string } {
  switch (channel) {
    case existing.channel:
    case existing.direct:
      return { id: channel }
    case existing.name:
      return { id: existing.channel }
    // Slack takes a user's id for the conversation with them.
    case existing.user:
      return { id: existing.direct }
    case existing.archived:
      return no('is_archived')
    case existing.foreign:
      return no('not_in_channel')
    default:
      return no('channel_not_found')
  }
}

function no(error: string) {
  return { ok: false, error } as const
}

/** A mention in brackets. */
const bracketed = /<(!(?:channel|here|everyone|group|subteam\^\w+)|@[UWB][A-Z0-9]+)(?:\|[^<>]*)?>/g
/** A mention without brackets. After a slash it is part of an address. */
const unmarked = /(?<![\p{L}\p{N}_/])@(?:channel|here|everyone|group)(?![\p{L}\p{N}_])/gu

/**
 * Finds whom a message mentions. Slack does not document in which pass it reads brackets, so they count both in the source
 * and in the shown text, code included. Words without brackets count too, though most settings ignore them.
 */
function pingsOf(sent: string, shown: string): string[] {
  const found = [...sent.matchAll(bracketed), ...shown.matchAll(bracketed), ...shown.matchAll(unmarked)]
  return found.map(([mention]) => mention)
}
