/** Turns a refusal of the Bot API into an error that says whether and when to retry, and what the operator can do. */

import {
  asNumber,
  asRecord,
  asString,
  type ChannelErrorCode,
  channelError,
  foreignAnswer,
  hasDoneNothing,
  oneLine,
  type PluginError,
  type Redact,
  readRetryAfter,
  type VendorAnswer,
} from '@reveille/kit'

export interface ErrorOptions {
  /** Removes the token from quoted text. */
  readonly redact: Redact
  /** The time in milliseconds since the Unix epoch. */
  readonly now: number
}

interface Meaning {
  readonly code: ChannelErrorCode
  /** A sentence with what the operator should do. */
  readonly hint?: string
}

/** Maximum length of Telegram's own words in an error, in characters. */
const maxQuoteLength = 200

/** Reads an answer of the Bot API ("Making requests"), with the status repeated and a description. */
export function apiAnswerOf({ json }: VendorAnswer) {
  const { ok, result, error_code: code, description, parameters } = asRecord(json) ?? {}
  const { retry_after: wait, migrate_to_chat_id: movedTo } = asRecord(parameters) ?? {}
  return {
    ...(typeof ok === 'boolean' && { ok }),
    result,
    error_code: asNumber(code),
    description: asString(description),
    parameters: {
      /** The seconds to wait. */
      retry_after: Number(asNumber(wait)) >= 0 ? asNumber(wait) : undefined,
      migrate_to_chat_id: ok === false && Number.isSafeInteger(movedTo) ? asNumber(movedTo) : undefined,
    },
  }
}

export function errorFrom(answer: VendorAnswer, { redact, now }: ErrorOptions): PluginError {
  const { ok, error_code: status = answer.status, description, parameters } = apiAnswerOf(answer)
  // A 200 without the Bot API's fields comes from a proxy or was cut off.
  if (ok !== false) return foreignAnswer(answer, { vendor: "Telegram's Bot API", now })
  const words = oneLine(redact(description ?? ''), maxQuoteLength)
  const { code, hint } = meaningOf(status, words)
  const answerText = words === '' ? `Telegram answers ${status}` : `Telegram answers ${status}: ${words}`
  const sentence = `${answerText.replace(/\.$/, '')}.${hint === undefined ? '' : ` ${hint}`}`
  const retryAfter = parameters.retry_after ?? readRetryAfter(answer.headers.get('retry-after'), now)
  const maybeDelivered = code === 'unavailable' && !hasDoneNothing(status)
  return channelError(code, sentence, { retryAfter, maybeDelivered })
}

/** The words decide only codes and hints. The host acts on the status: every 400 and 403 is final. */
function meaningOf(status: number, words: string): Meaning {
  if (status < 300 || status >= 500) return { code: 'unavailable' }
  switch (status) {
    case 429:
      return { code: 'rate-limited' }
    case 401:
      return {
        code: 'bad-credential',
        hint: 'The bot token is wrong or was revoked: ask @BotFather for the one that holds.',
      }
    case 404:
      return {
        code: 'bad-credential',
        hint: 'The bot token is malformed, or `baseUrl` is no Bot API server.',
      }
    case 403:
      return forbidden(words)
    default:
      return refused(words)
  }
}

function forbidden(words: string): Meaning {
  if (/initiate conversation/i.test(words)) {
    return { code: 'window-closed', hint: 'This person has to press Start in the bot first.' }
  }
  const hint = /blocked/i.test(words)
    ? 'This person has to unblock the bot.'
    : 'Add the bot to the chat, and let it write there.'
  return { code: 'forbidden', hint }
}

function refused(words: string): Meaning {
  if (/too long/i.test(words)) return { code: 'too-long' }
  if (/not enough rights|administrator rights|WRITE_FORBIDDEN|TOPIC_CLOSED/i.test(words)) {
    return { code: 'forbidden', hint: 'Let the bot write in this chat.' }
  }
  if (/thread not found/i.test(words)) return { code: 'bad-target', hint: 'The forum has no such topic.' }
  if (/chat not found|PEER_ID_INVALID|chat_id/i.test(words)) {
    const hint =
      'Add the bot to the group or channel, or let the person press Start in it; numbers of groups begin with -100.'
    return { code: 'bad-target', hint }
  }
  return { code: 'bad-request' }
}
