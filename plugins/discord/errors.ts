/**
 * Turns a refusal of Discord into an error with the fix in a sentence, and whether to try again.
 *
 * Source: discord.com/developers/docs/topics/opcodes-and-status-codes and /topics/rate-limits.
 */

import {
  asList,
  asNumber,
  asRecord,
  asString,
  type ChannelErrorCode,
  channelError,
  compileRedaction,
  type Facts,
  foreignAnswer,
  oneLine,
  type PluginError,
  readRetryAfter,
  type VendorAnswer,
} from '@reveille/kit'

interface Meaning {
  readonly code: ChannelErrorCode
  readonly text: string
}

/** The refusals that only a person can fix, by Discord's own codes. */
const meanings: Readonly<Record<number, Meaning>> = {
  10003: { code: 'bad-target', text: 'knows no such channel, or the bot is not on its server' },
  10013: { code: 'bad-target', text: 'knows no such user' },
  50008: { code: 'bad-target', text: 'takes no text in that channel' },
  50033: { code: 'bad-target', text: 'knows no such user' },
  50001: { code: 'forbidden', text: 'does not show the bot that channel; give it `View Channel` there' },
  50013: {
    code: 'forbidden',
    text: 'does not let the bot write there; give it `Send Messages`, in threads `Send Messages in Threads`',
  },
  50007: {
    code: 'forbidden',
    text: 'does not let the bot write to that user; they have to share a server with it and allow direct messages',
  },
  50278: { code: 'forbidden', text: 'lets the bot write only to users who share a server with it' },
  50083: { code: 'forbidden', text: 'has archived that thread; open it again' },
  160005: { code: 'forbidden', text: 'has locked that thread; unlock it' },
  200000: { code: 'forbidden', text: "stopped the message: a rule of the server's AutoMod is against it" },
  240000: { code: 'forbidden', text: 'stopped the message: it holds a link that counts as harmful' },
  50006: { code: 'bad-request', text: 'takes no empty message' },
}

/** The statuses of Discord or the proxy before it for requests that never reached the service that stores messages. */
const unprocessed = new Set([502, 503, 521, 522, 523])

/** Maximum length of Discord's own words in an error, in characters. */
const maxQuoteLength = 120

export interface ErrorOptions {
  /** The token, which is removed from what Discord said. */
  readonly token: string
  /** True if the call was the one that sends the message. Default: true. */
  readonly isDelivery?: boolean
}

export function errorFrom(answer: VendorAnswer, { token, isDelivery = true }: ErrorOptions): PluginError {
  const { status } = answer
  const body = asRecord(answer.json)
  const quoted = quote(answer, body, token)

  if (status === 429) return rateLimited(answer, body)
  if (status === 401) {
    const fix = 'set `botToken` to the one of the page `Bot` at discord.com/developers'
    return channelError('bad-credential', `Discord refused the token (401): ${fix}.`)
  }
  if (status >= 500) {
    const maybeDelivered = isDelivery && !unprocessed.has(status)
    const retryAfter = readRetryAfter(answer.headers.get('retry-after'), Date.now())
    return channelError('unavailable', `Discord cannot take it now (${quoted}).`, {
      maybeDelivered,
      retryAfter,
    })
  }
  if (body === undefined || status < 300)
    return foreignAnswer(answer, { vendor: "Discord's API", isDelivery })
  const meaning = meanings[asNumber(body['code']) ?? -1]
  if (meaning !== undefined) return channelError(meaning.code, `Discord ${meaning.text} (${quoted}).`)
  if (isTooLong(body))
    return channelError('too-long', `Discord takes no message as long as this (${quoted}).`)
  const code = status === 403 ? 'forbidden' : 'bad-request'
  return channelError(code, `Discord refused the message (${quoted}).`)
}

/** Returns the error for a request that is not made because Discord would refuse it. */
export function paused(seconds: number): PluginError {
  const text = `Discord takes nothing more there for ${shown(seconds)} s.`
  return channelError('rate-limited', text, { retryAfter: seconds })
}

function rateLimited({ headers }: VendorAnswer, body: Facts | undefined): PluginError {
  const retryAfterBody = body?.['retry_after']
  const header = readRetryAfter(headers.get('retry-after'), Date.now())
  const retryAfter = typeof retryAfterBody === 'number' && retryAfterBody >= 0 ? retryAfterBody : header
  // An answer that is not JSON comes from the proxy before Discord, which blocks an IP address and not a route.
  const wholeService =
    body === undefined ||
    body['global'] === true ||
    headers.get('x-ratelimit-global') === 'true' ||
    headers.get('x-ratelimit-scope') === 'global'
  const whom = wholeService ? 'of this bot' : 'there'
  const wait = retryAfter === undefined ? 'a while' : `${shown(retryAfter)} s`
  const text = `Discord takes nothing more ${whom} for ${wait} (429).`
  return channelError('rate-limited', text, { retryAfter, wholeService })
}

/** Quotes an answer as `403, 50001 Missing Access`. */
function quote({ status }: VendorAnswer, body: Facts | undefined, token: string): string {
  const words = [asNumber(body?.['code']) || undefined, asString(body?.['message'])].filter(
    (word) => word !== undefined,
  )
  const fields = body === undefined ? [] : fieldErrors(body['errors'])
  const sentences = [words.join(' '), ...fields].filter((each) => each !== '')
  return oneLine(compileRedaction([token])([status, ...sentences].join(', ')), maxQuoteLength)
}

function isTooLong(body: Facts): boolean {
  return fieldErrors(body['errors']).includes('content: BASE_TYPE_MAX_LENGTH')
}

/** Lists errors as `content: BASE_TYPE_MAX_LENGTH`, without Discord's sentence, which may quote the field. */
function fieldErrors(errors: unknown, path = '', depth = 0): string[] {
  const found = asRecord(errors)
  if (found === undefined || depth > 5) return []
  const own = asList(found['_errors'])
  const codes = own.map((each) => `${path}: ${asString(asRecord(each)?.['code']) ?? 'an error'}`)
  const inner = Object.entries(found).filter(([key]) => key !== '_errors')
  const names = inner.flatMap(([key, value]) =>
    fieldErrors(value, path === '' ? key : `${path}.${key}`, depth + 1),
  )
  return [...codes, ...names]
}

function shown(seconds: number): string {
  return String(Math.ceil(seconds * 10) / 10)
}
