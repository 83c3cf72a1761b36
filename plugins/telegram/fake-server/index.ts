/** A fake of Telegram's Bot API: one bot, the chats that it may write to, and the messages that they hold. */

import { asRecord, type Part } from '@reveille/kit'
import {
  type FakeServerAnswer,
  type FakeServerRequest,
  type FakeVendor,
  openFakeServer,
  type VendorMessage,
  withRetryAfter,
} from '@reveille/kit/fake-server'
import { detectEntities, type FormattedText, parseHtml } from './markup.ts'

export interface FakeTelegramOptions {
  /** False for a server that is older than Bot API 10.1. Default: true. */
  readonly rich?: boolean
}

/** A made-up token in the form that @BotFather gives. */
const botToken = '123456789:AAFakeFakeFakeFakeFakeFakeFakeFake_0'
const bot = { id: 123456789, is_bot: true, first_name: 'Reveille', username: 'reveille_fake_bot' }

export async function openVendor({ rich = true }: FakeTelegramOptions = {}): Promise<FakeVendor> {
  const room = createChats(bot)
  const methods: Readonly<Record<string, (body: Record<string, unknown>) => FakeServerAnswer>> = {
    getme: () => ({ body: { ok: true, result: bot } }),
    sendmessage: room.sendMessage,
    ...(rich && { sendrichmessage: room.sendRichMessage }),
  }
  const fakeServer = await openFakeServer({ answer, isSend: ({ path }) => /\/send\w+$/i.test(path) })
  return {
    ...fakeServer,
    messages: room.messages,
    pings: room.pings,
    config: { botToken, baseUrl: fakeServer.url },
    secrets: [botToken],
    to: '123456789',
    unknownTo: '987654321',
    threadTo: '-1001234567890:topic:7',
    refusals,
  }

  /** Method names ignore case ("Making requests"). */
  function answer(request: FakeServerRequest): FakeServerAnswer {
    const [, token = '', name = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(request.path) ?? []
    if (!/^[0-9]+:[A-Za-z0-9_-]{30,}$/.test(token)) return refuse(404, 'Not Found')
    if (token !== botToken) return refuse(401, 'Unauthorized')
    const method = methods[name.toLowerCase()]
    if (method === undefined) return refuse(404, 'Not Found: method not found')
    const parameters = parametersOf(request)
    return parameters === undefined ? badRequest("can't parse JSON object") : method(parameters)
  }
}

/** Reads JSON. The Bot API takes forms too, which no client of the tests sends, and ignores any other body. */
function parametersOf({ headers, json }: FakeServerRequest): Record<string, unknown> | undefined {
  if (!headers['content-type']?.startsWith('application/json')) return {}
  return typeof json === 'object' && json !== null ? { ...json } : undefined
}

/** Returns what a person reads of a part: HTML as Telegram parses it, anything else as it is. */
export function visibleText(part: Part): string {
  const { html } = part
  return typeof html === 'string' ? parseHtml(html).text : part.text
}

interface Chat {
  readonly id: number
  readonly type: 'private' | 'group' | 'supergroup' | 'channel'
  readonly username?: string
  readonly topics?: readonly number[]
  readonly refusal?: FakeServerAnswer
}

/** The chats that tests write to, named after what is special about them. */
export const chats = {
  person: 123456789,
  blocked: 444,
  strange: 555,
  forum: -1001234567890,
  channel: -1002000000001,
  moved: -4242,
  movedTo: -1004242424242,
  kicked: -1003333333333,
} as const

const all: readonly Chat[] = [
  { id: chats.person, type: 'private' },
  { id: chats.blocked, type: 'private', refusal: refuse(403, 'Forbidden: bot was blocked by the user') },
  {
    id: chats.strange,
    type: 'private',
    refusal: refuse(403, "Forbidden: bot can't initiate conversation with a user"),
  },
  { id: chats.forum, type: 'supergroup', topics: [7, 8] },
  { id: chats.channel, type: 'channel', username: 'reveille_news' },
  {
    id: chats.moved,
    type: 'group',
    refusal: badRequest('group chat was upgraded to a supergroup chat', {
      migrate_to_chat_id: chats.movedTo,
    }),
  },
  { id: chats.movedTo, type: 'supergroup' },
  {
    id: chats.kicked,
    type: 'supergroup',
    refusal: refuse(403, 'Forbidden: bot was kicked from the supergroup chat'),
  },
]

type Parameters = Readonly<Record<string, unknown>>

/** Maximum length of a message's visible text (Bot API, `sendMessage`) and of the source of a rich message, in code points. */
const longest = { message: 4096, rich: 32_768 }

/** Maximum number of entities of a message; Telegram drops the rest. */
const maxEntities = 100

function createChats(bot: object) {
  const messages: VendorMessage[] = []
  const pings: string[] = []

  function store(parameters: Parameters, formatted: FormattedText, rest: object = {}): FakeServerAnswer {
    const chat = chatOf(parameters['chat_id'])
    if (chat === undefined) return badRequest('chat not found')
    if (chat.refusal !== undefined) return chat.refusal
    const thread = parameters['message_thread_id']
    if (thread !== undefined && !chat.topics?.includes(Number(thread))) {
      return badRequest('message thread not found')
    }
    const entities = [...formatted.entities, ...detectEntities(formatted)]
      .toSorted((left, right) => left.offset - right.offset)
      .slice(0, maxEntities)
    for (const { type, offset, length } of entities) {
      if (/mention$/.test(type)) pings.push(formatted.text.slice(offset, offset + length))
    }
    const message_id = messages.length + 1
    messages.push({ to: String(chat.id), text: formatted.text, entities, thread, message_id, ...rest })
    const { topics, refusal, ...shown } = chat
    const result = {
      message_id,
      ...(thread !== undefined && { message_thread_id: Number(thread) }),
      from: bot,
      chat: { ...shown, ...(topics && { is_forum: true }) },
      date: 1_700_000_000 + message_id,
      text: formatted.text,
      ...(entities.length > 0 && { entities }),
    }
    return { body: { ok: true, result } }
  }

  return {
    messages,
    pings,

    sendMessage(parameters: Parameters): FakeServerAnswer {
      const { text, parse_mode: mode, link_preview_options: preview } = parameters
      if (isAbsent(parameters['chat_id'])) return badRequest('chat_id is empty')
      if (typeof text !== 'string' || text === '') return badRequest('message text is empty')
      const formatted = parse(clean(text), mode)
      if ('status' in formatted) return formatted
      const trimmed = trim(formatted)
      if (trimmed.text === '') return badRequest('text must be non-empty')
      if (Array.from(trimmed.text).length > longest.message) return badRequest('message is too long')
      return store(parameters, trimmed, { hasPreview: asRecord(preview)?.['is_disabled'] !== true })
    },

    sendRichMessage(parameters: Parameters): FakeServerAnswer {
      const given = parameters['rich_message']
      if (isAbsent(parameters['chat_id'])) return badRequest('chat_id is empty')
      const markdown = asRecord(given)?.['markdown']
      if (typeof markdown !== 'string' || markdown.trim() === '') return badRequest('message text is empty')
      if (Array.from(markdown).length > longest.rich) return badRequest('message is too long')
      return store(parameters, { text: markdown, entities: [] }, { isRich: true })
    },
  }
}

/** Removes what Telegram removes from every text (TDLib, `clean_input_string`). */
function clean(text: string): string {
  return text.replaceAll(/[\u2028-\u202e]|\u0333|\u033f|\u030a/g, '')
}

function parse(
  text: string,
  mode: unknown,
): FormattedText | (FakeServerAnswer & { readonly status: number }) {
  const name = isAbsent(mode) ? '' : String(mode).toLowerCase()
  if (name === '') return { text, entities: [] }
  // The other two are not what this channel writes.
  if (name !== 'html') return { ...badRequest('unsupported parse_mode'), status: 400 }
  try {
    return parseHtml(text)
  } catch (error) {
    return { ...badRequest(`can't parse entities: ${(error as Error).message}`), status: 400 }
  }
}

/** Removes white space from both ends, as Telegram does, and moves the entities accordingly. */
function trim({ text, entities }: FormattedText): FormattedText {
  const cut = text.length - text.trimStart().length
  const trimmed = text.trim()
  const moved = entities.map((entity) => {
    const offset = Math.max(0, entity.offset - cut)
    const end = Math.min(trimmed.length, entity.offset + entity.length - cut)
    return { ...entity, offset, length: end - offset }
  })
  return { text: trimmed, entities: moved.filter(({ length }) => length > 0) }
}

function chatOf(id: unknown): Chat | undefined {
  const name = String(id).toLowerCase()
  return all.find((chat) => String(chat.id) === name || (chat.username && `@${chat.username}` === name))
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function refuse(status: number, description: string, parameters?: object): FakeServerAnswer {
  const body = { ok: false, error_code: status, description, ...(parameters && { parameters }) }
  return { status, body }
}

export function badRequest(words: string, parameters?: object): FakeServerAnswer {
  return refuse(400, `Bad Request: ${words}`, parameters)
}

const refusals: FakeVendor['refusals'] = {
  badCredential: refuse(401, 'Unauthorized'),
  forbidden: refuse(403, 'Forbidden: bot was blocked by the user'),
  rateLimited(seconds) {
    const refusal = refuse(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds })
    return withRetryAfter(refusal, seconds)
  },
  serverError: refuse(500, 'Internal Server Error'),
}
