/** Telegram as a test has it: the Bot API of one bot, and the chats that it may write to. */

import type { Part } from '@reveille/kit'
import {
  type FakeServerAnswer,
  type FakeServerRequest,
  type FakeVendor,
  openFakeServer,
} from '@reveille/kit/fake-server'
import { createChats } from './chats.ts'
import { parseHtml } from './html.ts'
import { badRequest, refusals, refuse } from './refusals.ts'

export { chats } from './chats.ts'

export interface FakeTelegramOptions {
  /** False for a server that is older than Bot API 10.1. Default: true. */
  readonly rich?: boolean
}

/** Made up; of the form that @BotFather gives. */
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

  /** Methods fold case; parameters come as JSON or as a form ("Making requests"). */
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

function parametersOf({ headers, json, text }: FakeServerRequest): Record<string, unknown> | undefined {
  const [type] = (headers['content-type'] ?? '').split(';')
  if (type === 'application/x-www-form-urlencoded') return Object.fromEntries(new URLSearchParams(text))
  // Of a body of another type the Bot API reads nothing.
  if (type !== 'application/json') return {}
  return typeof json === 'object' && json !== null ? { ...json } : undefined
}

/** What a person reads of a part: HTML as Telegram parses it, anything else as it stands. */
export function visibleText(part: Part): string {
  const { html } = part
  return typeof html === 'string' ? parseHtml(html).text : part.text
}
