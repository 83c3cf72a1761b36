/** The table of the vendors: what to send them, and how their descriptions differ. */

import * as discord from '../../plugins/discord/fake-server/index.ts'
import * as imessage from '../../plugins/imessage/fake-server/index.ts'
import type { VendorSetup } from '../../plugins/kit/conformance/opened-vendor.ts'
import type { FakeServerRequest, FakeVendor } from '../../plugins/kit/fake-server/index.ts'
import type { Part } from '../../plugins/kit/index.ts'
import * as mattermost from '../../plugins/mattermost/fake-server/index.ts'
import * as msteams from '../../plugins/msteams/fake-server/index.ts'
import * as signal from '../../plugins/signal/fake-server/index.ts'
import * as slack from '../../plugins/slack/fake-server/index.ts'
import * as telegram from '../../plugins/telegram/fake-server/index.ts'
import * as whatsapp from '../../plugins/whatsapp/fake-server/index.ts'

export interface Vendor {
  /** The name of the channel. */
  readonly name: string
  /** The ways in which the channel writes to the vendor. */
  readonly ways: Readonly<Record<string, () => Promise<FakeVendor>>>
  /** Returns what a person reads of a part. */
  visibleText(part: Part): string
  /** Addresses of other kinds than the fake server's own: a person, a group. */
  readonly addresses: readonly string[]
  /** Returns the description of a request; undefined if there is none. */
  description(request: FakeServerRequest): Described | undefined
  /** Returns the body of a message with another text. */
  withText(body: Body, text: string): Body
  /** Returns an error as the vendor writes it, from its own word or number. */
  error(word: Word): object
  /** Returns that word in a body. */
  word(body: Body): unknown
  /** The errors that the channel deliberately treats differently from the rules, and why. */
  readonly taken?: Readonly<Record<Word, string>>
}

export interface Described {
  readonly name: string
  /** Returns the path as the vendor has it, without the fake server's prefix. Default: the path of the request. */
  readonly path?: string
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of vendors, each of another shape
export type Body = any
export type Word = string | number

const unreached =
  'The rules count a bare 502 or 503 as possibly sent; in an outage nearly all of them are of a vendor that was not reached.'

export const vendors: readonly Vendor[] = [
  {
    name: 'telegram',
    visibleText: telegram.visibleText,
    ways: {
      HTML: () => telegram.openVendor(),
      'rich Markdown': () => configured(telegram.openVendor(), { format: 'rich' }),
      'plain text': () => configured(telegram.openVendor(), { format: 'plain' }),
    },
    addresses: ['-1001234567890', '@reveille_news'],
    description: () => ({ name: 'telegram' }),
    withText: (body, text) => ({ ...body, text }),
    error: (description) => ({ ok: false, error_code: 400, description }),
    word: (body) => body.description,
    taken: { undefined: unreached },
  },
  {
    name: 'discord',
    visibleText: discord.visibleText,
    ways: { Markdown: () => discord.openVendor() },
    addresses: ['user:1500000000000000001', '1400000000000000002'],
    description: () => ({ name: 'discord' }),
    withText: (body, content) => ({ ...body, content }),
    error: (code) => ({ message: 'Something is wrong', code }),
    word: (body) => body.code,
  },
  {
    name: 'slack',
    visibleText: slack.visibleText,
    ways: {
      Markdown: () => slack.openVendor(),
      mrkdwn: () => slack.openVendor({ format: 'mrkdwn' }),
    },
    addresses: ['user:U0123ADA', '#general', 'D0123ADA'],
    description: () => ({ name: 'slack' }),
    withText: (body, text) => ({ ...body, ['text' in body ? 'text' : 'markdown_text']: text }),
    error: (error) => ({ ok: false, error }),
    word: (body) => body.error,
    taken: {
      no_permission: 'The app is no member of the conversation, as Slack’s page on the method says.',
      undefined: unreached,
    },
  },
  {
    name: 'mattermost',
    visibleText: mattermost.visibleText,
    ways: { Markdown: () => mattermost.openVendor() },
    addresses: ['@ada', `user:${'p'.repeat(26)}`],
    description: () => ({ name: 'mattermost' }),
    withText: (body, message) => ({ ...body, message, pending_post_id: 'another' }),
    error: (id) => ({ id, message: 'Something is wrong.', status_code: 400 }),
    word: (body) => body.id,
  },
  {
    name: 'whatsapp',
    visibleText: whatsapp.visibleText,
    ways: {
      'free text': () => whatsapp.openVendor(),
      template: async () => {
        const fakeServer = await whatsapp.openVendor()
        const { template, silentTo: to } = fakeServer
        return { ...fakeServer, to, config: { ...fakeServer.config, template } }
      },
    },
    addresses: ['16505551234', 'group:Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD'],
    description: () => ({ name: 'whatsapp' }),
    withText: (body, text) => ({ ...body, text: { ...body.text, body: text } }),
    error: (code) => ({
      error: { message: `(#${code}) Error`, type: 'OAuthException', code, fbtrace_id: 'A1' },
    }),
    word: (body) => body.error?.code,
    taken: { 33: 'The number in the path is the operator’s own, and the same for every message.' },
  },
  {
    name: 'signal',
    visibleText: signal.visibleText,
    ways: { 'JSON-RPC': () => signal.openVendor(), REST: () => signal.openRestVendor() },
    addresses: [`uuid:${signal.people.ada.uuid}`, `group:${signal.groups.crew.id}`, 'username:ada.01'],
    // Only sending is described for JSON-RPC.
    description({ path, json }) {
      if (!path.startsWith('/api/v1/')) return { name: 'signal' }
      return (json as Body)?.method === 'send' ? { name: 'signal-jsonrpc' } : undefined
    },
    withText: (body, message) =>
      'params' in body ? { ...body, params: { ...body.params, message } } : { ...body, message },
    error: (code) => ({ jsonrpc: '2.0', error: { code, message: 'Something is wrong' }, id: '1' }),
    word: (body) => body.error?.code,
    taken: { '': 'A status of 400 is the REST wrapper’s, and the channel speaks to the daemon itself.' },
  },
  {
    name: 'imessage',
    visibleText: imessage.visibleText,
    ways: { BlueBubbles: () => imessage.openVendor() },
    addresses: ['ada@example.org', 'chat_guid:iMessage;+;chat100200300', 'sms:+15550100001'],
    // Looking up a chat by its id is not described.
    description: ({ method, path }) =>
      method === 'GET' && path.startsWith('/api/v1/chat/') ? undefined : { name: 'imessage' },
    withText: (body, message) => ({ ...body, message }),
    error: (type) => ({ status: 500, message: 'Error', error: { type, message: 'Something is wrong.' } }),
    word: (body) => body.error?.type,
  },
  {
    name: 'msteams',
    visibleText: msteams.visibleText,
    ways: { Markdown: () => msteams.openVendor() },
    addresses: ['user:5b649834-7412-4cce-9e69-176e95a394f5', '19:meeting_group00000000000000@thread.v2'],
    description: ({ path }) => ({ name: 'msteams', path: path.replace(/^\/(teams|authority)\//, '/') }),
    withText: (body, text) => ({ ...body, text }),
    error: (code) => ({ error: { code, message: 'Something is wrong.' } }),
    word: (body) => body.error?.code,
    taken: { '': unreached },
  },
]

export interface Surface extends VendorSetup, Pick<Vendor, 'name' | 'visibleText'> {}

/** The markups that replies are written in: that of each vendor, and Slack's older one. */
export const surfaces: readonly Surface[] = vendors.flatMap((vendor) =>
  Object.entries(vendor.ways)
    .slice(0, vendor.name === 'slack' ? 2 : 1)
    .map(([way, open]) => ({
      name: `${vendor.name} (${way})`,
      plugin: pluginOf(vendor),
      open,
      visibleText: vendor.visibleText,
    })),
)

export function pluginOf({ name }: Vendor): URL {
  return new URL(`../../plugins/${name}/index.ts`, import.meta.url)
}

async function configured(opening: Promise<FakeVendor>, more: object): Promise<FakeVendor> {
  const fakeServer = await opening
  return { ...fakeServer, config: { ...fakeServer.config, ...more } }
}
