/** Owns what the Bot API's refusals mean: may it be tried again, when, and what the operator can do. */

import {
  type ChannelErrorCode,
  oneLine,
  PluginError,
  type PluginErrorOptions,
  type Redact,
  readRetryAfter,
  type VendorAnswer,
} from '@reveille/kit'

/** What the Bot API answers ("Making requests"): the status once more, and words. */
export interface ApiAnswer {
  readonly ok?: boolean
  readonly result?: unknown
  readonly error_code?: number
  readonly description?: string
  readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number }
}

export interface FailureOptions {
  /** Takes the token out of what is quoted. */
  readonly redact: Redact
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

type Kind = Pick<PluginErrorOptions, 'retryable' | 'retryAfter' | 'maybeDelivered' | 'wholeChannel'> & {
  readonly code: ChannelErrorCode
  readonly hint?: string
}

export function apiAnswerOf({ json }: VendorAnswer): ApiAnswer {
  return typeof json === 'object' && json !== null ? (json as ApiAnswer) : {}
}

export function failureOf(answer: VendorAnswer, { redact, now }: FailureOptions): PluginError {
  const { error_code: status = answer.status, description, parameters } = apiAnswerOf(answer)
  const words = typeof description === 'string' ? oneLine(redact(description), 200) : ''
  const asked = parameters?.retry_after ?? readRetryAfter(answer.headers.get('retry-after'), now)
  const { hint, ...facts } = kindOf(Number(status), words, asked)
  const said = words === '' ? `Telegram answers ${status}` : `Telegram answers ${status}: ${words}`
  return new PluginError(`${said.replace(/\.$/, '')}.${hint === undefined ? '' : ` ${hint}`}`, facts)
}

/** Only codes and hints hang on the words: what the host does follows from the status, as all 400s and 403s are final. */
function kindOf(status: number, words: string, retryAfter: number | undefined): Kind {
  // A status of 200 with something else in it than the Bot API's answer: a proxy, or a cut.
  if (status < 300 || status >= 500) return { code: 'unavailable', retryable: true, maybeDelivered: true }
  switch (status) {
    case 429:
      return { code: 'rate-limited', retryable: true, retryAfter }
    case 401:
      return badCredential('The bot token is wrong or was revoked: ask @BotFather for the one that holds.')
    case 404:
      return badCredential('The bot token is malformed, or `baseUrl` is no Bot API server.')
    case 403:
      return forbidden(words)
    default:
      return refused(words)
  }
}

function badCredential(hint: string): Kind {
  return { code: 'bad-credential', retryable: true, wholeChannel: true, hint }
}

function forbidden(words: string): Kind {
  if (/initiate conversation/i.test(words)) {
    return {
      code: 'window-closed',
      retryable: false,
      hint: 'This person has to press Start in the bot first.',
    }
  }
  const hint = /blocked/i.test(words)
    ? 'This person has to unblock the bot.'
    : 'Add the bot to the chat, and let it write there.'
  return { code: 'forbidden', retryable: false, hint }
}

function refused(words: string): Kind {
  if (/too long/i.test(words)) return { code: 'too-long', retryable: false }
  if (/not enough rights|administrator rights|WRITE_FORBIDDEN|TOPIC_CLOSED/i.test(words)) {
    return { code: 'forbidden', retryable: false, hint: 'Let the bot write in this chat.' }
  }
  if (/thread not found/i.test(words)) {
    return { code: 'bad-target', retryable: false, hint: 'The forum has no such topic.' }
  }
  if (/chat not found|PEER_ID_INVALID|chat_id/i.test(words)) {
    const hint =
      'Add the bot to the group or channel, or let the person press Start in it; numbers of groups begin with -100.'
    return { code: 'bad-target', retryable: false, hint }
  }
  return { code: 'bad-request', retryable: false }
}
