/** Owns the table of the vendors: what to send them, and what their descriptions do not say alike. */

import * as imessage from '../../plugins/imessage/stand-in/index.ts'
import type { StandInRequest, VendorStandIn } from '../../plugins/kit/stand-in/index.ts'
import * as slack from '../../plugins/slack/stand-in/index.ts'

export interface Vendor {
  /** Of the channel. */
  readonly name: string
  /** How the stand-in is opened, by what is tried of it: one or more ways. */
  readonly ways: Readonly<Record<string, () => Promise<VendorStandIn>>>
  /** Other kinds of places than the stand-in's own: a person, a group. */
  readonly addresses: readonly string[]
  /** The description that says of such a request what it may be; undefined where none does. */
  description(request: StandInRequest): string | undefined
  /** The body of a message that says something else. */
  withText(body: Body, text: string): Body
  /** An error as the vendor writes it, of its own word or number for it. */
  error(word: Word): object
  /** That word in a body. */
  word(body: Body): unknown
  /** Errors that the channel takes for something else than the rules do, and why. */
  readonly taken?: Readonly<Record<Word, string>>
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of vendors, each of another shape
export type Body = any
export type Word = string | number

export const vendors: readonly Vendor[] = [
  {
    name: 'slack',
    ways: {
      markdown: () => slack.openVendor(),
      mrkdwn: () => slack.openVendor({ format: 'mrkdwn' }),
    },
    addresses: ['user:U0123ADA', '#general', 'D0123ADA'],
    description: () => 'slack',
    withText: (body, text) => ({ ...body, ['text' in body ? 'text' : 'markdown_text']: text }),
    error: (error) => ({ ok: false, error }),
    word: (body) => body.error,
    taken: { no_permission: 'The app is no member of the conversation, as Slack’s page on the method says.' },
  },
  {
    name: 'imessage',
    ways: { BlueBubbles: () => imessage.openVendor() },
    addresses: ['ada@example.org', 'chat_guid:iMessage;+;chat100200300', 'sms:+15550100001'],
    // Looking for a chat by its id is described nowhere.
    description: ({ method, path }) =>
      method === 'GET' && path.startsWith('/api/v1/chat/') ? undefined : 'imessage',
    withText: (body, message) => ({ ...body, message }),
    error: (type) => ({ status: 500, message: 'Error', error: { type, message: 'Something is wrong.' } }),
    word: (body) => body.error?.type,
  },
]

export function pluginOf({ name }: Vendor): URL {
  return new URL(`../../plugins/${name}/index.ts`, import.meta.url)
}
