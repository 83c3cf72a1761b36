/** Owns sending: one part becomes one message of a bot, in whatever way this server and this chat take it. */

import {
  type Channel,
  healthOf,
  numberOf,
  type Part,
  type PluginLog,
  type Receipt,
  recordOf,
  type SendCall,
  textOf,
  timeOf,
} from '@reveille/kit'
import { type Answer, createBotApi } from './bot-api.ts'
import { checkConfiguration, type TelegramConfig } from './configuration.ts'
import { makeInert } from './inert.ts'
import { createMoves } from './moves.ts'
import { limitOf, type MessagePart, mostParts, rendererOf, renderHtml } from './render.ts'
import { createRichFallback } from './rich-fallback.ts'
import { parseTarget, type TelegramTarget } from './target.ts'

export interface TelegramOptions {
  readonly config: TelegramConfig
  readonly fetch: typeof globalThis.fetch
  readonly log: PluginLog
  /** Milliseconds since the Unix epoch. */
  now(): number
}

/** What Telegram advises (Bots FAQ, "My bot is hitting limits"); it promises no figures. */
const pace = { perTarget: { count: 1, ms: 1000 }, overall: { count: 30, ms: 1000 } }

/** @throws PluginError for a configuration that `checkConfiguration` refuses */
export function createTelegramChannel({ config, fetch, log, now }: TelegramOptions): Channel {
  checkConfiguration(config)
  const { defaultTo, format } = config
  const api = createBotApi({ config, fetch, now })
  const moves = createMoves(log)
  const preview = config.linkPreviews ? {} : { link_preview_options: { is_disabled: true } }
  const rich = createRichFallback({ log, render: renderHtml, send: sendText })

  return {
    id: 'telegram',
    limits: { part: limitOf(format), unit: 'utf16', parts: mostParts, ...pace },
    defaultTo,
    target: parseTarget,
    render: rendererOf(format),
    send: (part, call) => (format === 'rich' ? sendRich(part, call) : sendText(part, call)),
    check: (signal) =>
      healthOf(async () => {
        const answer = await api.call('getMe', {}, signal)
        const username = textOf(recordOf(answer.said.result)?.['username']) ?? 'a bot'
        if (answer.said.ok !== true) throw answer.failure()
        return `Telegram knows the bot as @${username}.`
      }),
  }

  /** HTML that Telegram cannot parse is sent once more as the words that it says. */
  async function sendText({ text, html }: MessagePart, call: SendCall): Promise<Receipt> {
    const plain = { text: makeInert(text), ...preview }
    const message = html === undefined ? plain : { text: html, parse_mode: 'HTML', ...preview }
    let answer = await post('sendMessage', message, call)
    if (html !== undefined && isUnparsable(answer)) {
      log.warn('telegram-markup-refused', { key: call.key, sentAs: 'plain text' })
      answer = await post('sendMessage', plain, call)
    }
    return receiptOf(answer)
  }

  async function sendRich(part: Part, call: SendCall): Promise<Receipt> {
    if (rich.isNeeded()) return rich.send(part, call)
    const answer = await post('sendRichMessage', { rich_message: { markdown: part.text } }, call)
    return answer.status === 404 || isUnparsable(answer)
      ? rich.send(part, call, { isUnknown: answer.status === 404 })
      : receiptOf(answer)
  }

  /** A group that has become a supergroup says its new number, and is written to there. */
  async function post(method: string, message: object, { target, signal }: SendCall): Promise<Answer> {
    const { chatId, topic } = target as TelegramTarget
    const thread = topic === undefined ? {} : { message_thread_id: topic }
    const answer = await api.call(method, { chat_id: moves.of(chatId), ...thread, ...message }, signal)
    const movedTo = answer.said.parameters.migrate_to_chat_id
    if (movedTo === undefined) return answer
    moves.remember(chatId, movedTo)
    return api.call(method, { chat_id: movedTo, ...message }, signal)
  }
}

/** The Bot API has one code for all that it refuses; only the words tell this one, which can be helped. */
function isUnparsable({ status, said }: Answer): boolean {
  return status === 400 && /can't parse/i.test(said.description ?? '')
}

/** @throws PluginError where the answer proves no message */
function receiptOf({ said, failure }: Answer): Receipt {
  const { message_id: id, date } = recordOf(said.result) ?? {}
  if (said.ok !== true || typeof id !== 'number') throw failure()
  return { id: String(id), ...timeOf(Number(numberOf(date)) * 1000) }
}
