/** Owns the workspace: who is there, what was posted, and whom it called. */

import type { VendorMessage } from '@reveille/kit/fake-server'
import type { Fields } from './body.ts'
import { readMarkdown } from './markdown.ts'
import { readMrkdwn } from './mrkdwn.ts'
import { pingsOf } from './pings.ts'

export const botToken = 'xoxb-fake-0123456789-AbCdEfGh'

/** Conversations and people. */
export const existing = {
  channel: 'C0123GENERAL',
  name: '#general',
  archived: 'C0123ARCHIVE',
  /** The bot is not in it. */
  foreign: 'C0123FOREIGN',
  user: 'U0123ADA',
  /** With that user. */
  direct: 'D0123ADA',
} as const

/** Characters: of `text` what is over is cut off without a word, of `markdown_text` it is refused. */
const longest = { text: 40_000, markdown: 12_000 }

export function createWorkspace() {
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
    // The person's own id is taken for the conversation with them.
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
