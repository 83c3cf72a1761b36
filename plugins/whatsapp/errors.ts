/**
 * Turns a refusal of Meta into an error with the fix in a sentence, and whether to try again. It reads `error.code` alone,
 * because Meta guarantees no statuses, titles and texts.
 *
 * Source: developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes and docs/graph-api/guides/error-handling.
 */

import {
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
  type PluginErrorOptions,
  parseJson,
  readRetryAfter,
  type VendorAnswer,
} from '@reveille/kit'

/** Meta's code for a user who has not written for 24 hours. */
export const windowClosed = 131047

/** The meaning of an error, with the facts that its code does not imply. */
interface Meaning extends Partial<Pick<PluginErrorOptions, 'retryable' | 'wholeService' | 'retryAfter'>> {
  readonly code: ChannelErrorCode
  readonly text: string
}

const newToken = 'make a new one for the system user in the business settings, and set `accessToken` to it'
const badToken: Meaning = {
  code: 'bad-credential',
  text: `refused the access token; ${newToken}`,
}
/** A problem of the account, which affects every message until an operator fixes it. */
const unfit = (text: string): Meaning => ({ code: 'forbidden', text, retryable: true, wholeService: true })
const mayNot: Meaning = {
  code: 'bad-credential',
  text: 'does not let this access token send; give it whatsapp_business_messaging for the account of the number',
}
const noNumber: Meaning = {
  code: 'bad-credential',
  text: 'knows no number with this `phoneNumberId`, or does not show it to this access token',
}
const tooMany: Meaning = {
  code: 'rate-limited',
  text: 'takes nothing more of this account for a while',
  wholeService: true,
}
const notNow: Meaning = { code: 'unavailable', text: 'cannot take it now' }
const badTemplate = (text: string): Meaning => ({
  code: 'bad-request',
  text: `${text}; fix the template, or \`channels.whatsapp.template\``,
})
const refused: Meaning = { code: 'bad-request', text: 'refused the message' }

const meanings: Readonly<Record<number, Meaning>> = {
  0: badToken,
  102: badToken,
  104: badToken,
  190: badToken,
  3: mayNot,
  10: mayNot,
  33: noNumber,
  803: noNumber,
  131042: unfit('takes nothing until its bill for this account is settled'),
  131045: unfit('takes nothing from this number until it is registered'),
  133010: unfit('takes nothing from this number until it is registered'),

  368: { code: 'forbidden', text: 'has blocked this account for a while, for breaking its policies' },
  130497: { code: 'forbidden', text: 'does not let this account write to people in that country' },
  131030: { code: 'forbidden', text: 'lets a test number write only to the numbers on its list' },
  131031: { code: 'forbidden', text: 'has locked this account; WhatsApp Manager says why' },
  131049: { code: 'forbidden', text: 'holds this back, for the person gets enough of its kind' },
  131050: { code: 'forbidden', text: 'sends this person no marketing, as they wished' },

  4: tooMany,
  17: tooMany,
  613: tooMany,
  80007: tooMany,
  130429: tooMany,
  131048: {
    ...tooMany,
    text: 'takes nothing more of this number for a while, for too many called it unwanted',
  },
  133016: tooMany,
  // Meta advises waiting 4^n seconds, and allows one message in 6 s on average.
  131056: {
    code: 'rate-limited',
    text: 'takes nothing more for this person for a few seconds',
    retryAfter: 6,
  },

  1: notNow,
  2: notNow,
  131000: notNow,
  131016: notNow,
  131057: { ...notNow, text: 'looks after this account at the moment and takes nothing' },
  133004: notNow,

  [windowClosed]: { code: 'window-closed', text: 'takes free text only within 24 hours of a message' },
  131021: { code: 'bad-target', text: 'sends nothing from a number to itself' },
  131026: {
    code: 'bad-target',
    text: 'cannot reach that number; it may not be on WhatsApp, or has not taken its terms',
  },
  100: refused,
  131008: refused,
  131009: refused,
  131051: refused,
  132000: badTemplate('wants another number of variables in the template'),
  132001: badTemplate('knows no such template in this language'),
  132005: badTemplate('finds the filled template too long'),
  132007: badTemplate('finds the template against its policy'),
  132012: badTemplate('wants another kind of variable in the template'),
  132015: badTemplate('has paused the template for its quality'),
  132016: badTemplate('has disabled the template for its quality'),
}

/** True if the code is one of Graph's permission errors. */
const isPermission = (code: number) => code >= 200 && code <= 299

/** Maximum length of Meta's own words in an error, in characters. */
const maxQuoteLength = 160

/** Returns Meta's own error code, or undefined if the answer has none. */
export function codeOf({ json }: VendorAnswer): number | undefined {
  const code = asRecord(asRecord(json)?.['error'])?.['code']
  return typeof code === 'number' ? code : undefined
}

export interface ErrorOptions {
  /** The token, which is removed from what Meta said. */
  readonly token: string
  /** The time in milliseconds since the Unix epoch. */
  readonly now: number
  /** True if the call was the one that sends the message. Default: true. */
  readonly isDelivery?: boolean
}

export function errorFrom(answer: VendorAnswer, options: ErrorOptions): PluginError {
  const code = codeOf(answer)
  return code === undefined
    ? foreignAnswer(answer, { vendor: "Meta's Graph API", ...options })
    : refusal(answer, code, options)
}

/** Returns the error for a user who has to write first. `template` is the template that was sent instead, if there is one. */
export function closedWindow(template: string | undefined): PluginError {
  const rule = 'WhatsApp takes free text only within 24 hours of a message of theirs, and they have sent none'
  const fix =
    template === undefined
      ? 'set `channels.whatsapp.template` to an approved template, which reaches them, or replay this when they have written'
      : `the template ${template} has shown them how the reply begins, and is too short for it: replay this when they have written`
  return channelError('window-closed', `${rule}; ${fix} (${windowClosed}).`)
}

/** Returns the error for a paused template. Meta accepts such a message and does not send it. */
export function pausedTemplate(): PluginError {
  const text = 'Meta has paused the template for its quality, and sent nothing; fix it in WhatsApp Manager.'
  return channelError('bad-request', text)
}

function refusal(answer: VendorAnswer, code: number, { token, now }: ErrorOptions): PluginError {
  const error = asRecord(asRecord(answer.json)?.['error']) ?? {}
  const meaning = meaningOf(code, error, answer.status)
  const quote = oneLine(compileRedaction([token])(`${code} ${wordsOf(error)}`), maxQuoteLength)
  const { text, code: kind, ...facts } = meaning
  const retryAfter = waitOf(answer, now) ?? facts.retryAfter
  return channelError(kind, `Meta ${text} (${quote}).`, { ...facts, retryAfter })
}

function meaningOf(code: number, error: Facts, status: number): Meaning {
  if (code === 100 && error['error_subcode'] === 33) return noNumber
  const meaning = meanings[code] ?? (isPermission(code) ? mayNot : undefined)
  if (meaning !== undefined) return meaning
  return error['is_transient'] === true || status >= 500 ? notNow : refused
}

/** Returns Meta's words without `error_user_msg`, which may quote the message. */
function wordsOf({ message, error_data: data }: Facts): string {
  const words = asString(asRecord(data)?.['details']) ?? asString(message) ?? ''
  return words.replace(/^\(#\d+\)\s*/, '').replace(/[.!]\s*$/, '')
}

/** Returns the seconds that an answer asks to wait, in the usual header or in minutes in the header of Graph's business limits. */
function waitOf({ headers }: VendorAnswer, now: number): number | undefined {
  const plain = readRetryAfter(headers.get('retry-after'), now)
  if (plain !== undefined) return plain
  const usage = parseJson(headers.get('x-business-use-case-usage') ?? '')
  const entries = Object.values(asRecord(usage) ?? {}).flatMap((each) => (Array.isArray(each) ? each : []))
  const minutes = entries.map((each) => asNumber(asRecord(each)?.['estimated_time_to_regain_access']) ?? 0)
  const longest = Math.max(0, ...minutes)
  return longest > 0 ? longest * 60 : undefined
}
