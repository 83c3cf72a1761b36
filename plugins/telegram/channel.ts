/** Sends replies to Telegram: each part becomes one message of a bot, in a form that this server and this chat accept. */

import {
  asNumber,
  asRecord,
  asString,
  BoundedMap,
  type Channel,
  callVendor,
  checkDefaultTo,
  compileRedaction,
  healthOf,
  joinUrl,
  type Part,
  type PluginLog,
  type Receipt,
  type SendCall,
  timeOf,
  type VendorAnswer,
  type VendorContext,
} from '@reveille/kit'
import { apiAnswerOf, errorFrom } from './errors.ts'
import { type Format, limits, type MessagePart, neutralise, rendererOf, renderHtml } from './render.ts'
import { createRichFallback } from './rich-fallback.ts'
import { parseTarget, type TelegramTarget } from './target.ts'

/** A configuration that `config.schema.json` has accepted, with its defaults filled in. */
export interface TelegramConfig {
  readonly botToken: string
  readonly defaultTo?: string
  readonly format: Format
  readonly linkPreviews: boolean
  readonly baseUrl: string
}

export interface TelegramOptions extends VendorContext<TelegramConfig> {
  readonly log: PluginLog
}

/** The rates that Telegram advises (Bots FAQ, "My bot is hitting limits"); it guarantees none. */
const pace = { perTarget: { count: 1, ms: 1000 }, overall: { count: 30, ms: 1000 } }

/** Maximum number of remembered groups that became supergroups; more than one gateway writes to. */
const maxMigrations = 1000

/** @throws PluginError `bad-target` if `defaultTo` is not an address of this channel */
export function createTelegramChannel({ config, fetch, log, now }: TelegramOptions): Channel {
  const { botToken, baseUrl, defaultTo, format } = config
  checkDefaultTo(defaultTo, parseTarget)
  const redact = compileRedaction([botToken])
  /** The new number of each group that has become a supergroup. */
  const migrations = new BoundedMap<number | string, number>(maxMigrations)
  const preview = config.linkPreviews ? {} : { link_preview_options: { is_disabled: true } }
  const rich = createRichFallback({ log, render: renderHtml, send: sendText })

  return {
    id: 'telegram',
    limits: { ...limits[format], ...pace },
    defaultTo,
    target: parseTarget,
    render: rendererOf(format),
    send: (part, call) => (format === 'rich' ? sendRich(part, call) : sendText(part, call)),
    check: (signal) =>
      healthOf(async () => {
        const answer = await callMethod('getMe', {}, signal)
        const { ok, result } = apiAnswerOf(answer)
        if (ok !== true) throw errorFrom(answer, { redact, now: now() })
        return `Telegram knows the bot as @${asString(asRecord(result)?.['username']) ?? 'a bot'}.`
      }),
  }

  /** Calls a method of the Bot API and returns whatever Telegram answers. @throws PluginError if there is no answer */
  function callMethod(method: string, body: object, signal: AbortSignal): Promise<VendorAnswer> {
    // The token is in the path (Bot API, "Making requests"), so this URL must reach no log and no error.
    return callVendor(fetch, { url: joinUrl(baseUrl, `/bot${botToken}/${method}`), body, signal })
  }

  /** Sends a part as HTML, or again as plain text if Telegram cannot parse the HTML. */
  async function sendText({ text, html }: MessagePart, call: SendCall): Promise<Receipt> {
    const plain = { text: neutralise(text), ...preview }
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
      ? rich.send(part, call, answer.status === 404)
      : receiptOf(answer)
  }

  /** Posts a message, and posts it again to the new number if the group has become a supergroup. */
  async function post(method: string, message: object, { target, signal }: SendCall): Promise<VendorAnswer> {
    const { chatId, topic } = target as TelegramTarget
    const thread = topic === undefined ? {} : { message_thread_id: topic }
    const chat_id = migrations.get(chatId) ?? chatId
    const answer = await callMethod(method, { chat_id, ...thread, ...message }, signal)
    const movedTo = apiAnswerOf(answer).parameters.migrate_to_chat_id
    if (movedTo === undefined) return answer
    migrations.set(chatId, movedTo)
    log.warn('telegram-group-moved', { chat: chatId, movedTo, hint: `Write to ${movedTo} instead.` })
    return callMethod(method, { chat_id: movedTo, ...message }, signal)
  }

  /** @throws PluginError if the answer does not prove that a message was stored */
  function receiptOf(answer: VendorAnswer): Receipt {
    const { ok, result } = apiAnswerOf(answer)
    const { message_id: id, date } = asRecord(result) ?? {}
    if (ok !== true || typeof id !== 'number') throw errorFrom(answer, { redact, now: now() })
    return { id: String(id), ...timeOf(Number(asNumber(date)) * 1000) }
  }
}

/** True if Telegram refuses the markup. The Bot API uses 400 for every refusal, and only its text identifies this one. */
function isUnparsable(answer: VendorAnswer): boolean {
  return answer.status === 400 && /can't parse/i.test(apiAnswerOf(answer).description ?? '')
}
