/** Turns refusals of signal-cli and of signal-cli-rest-api into errors that say whether to retry and what to do. */

import {
  asRecord,
  type ChannelErrorCode,
  channelError,
  foreignAnswer,
  hasDoneNothing,
  oneLine,
  type PluginError,
  type PluginErrorOptions,
  readRetryAfter,
  type VendorAnswer,
} from '@reveille/kit'

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly response: SendResponse
}

/** The outcome for one recipient, or for one member of a group. */
export interface SendResult {
  readonly type: string
  /** The recipient's number, name or UUID. */
  readonly recipient: string
  /** The token of the proof that Signal demands before anything else is sent. */
  readonly token: string | undefined
  /** The seconds to wait. */
  readonly retryAfterSeconds: number | undefined
}

export interface SendResponse {
  /** The milliseconds since the Unix epoch, which also identify the message. */
  readonly timestamp: number | undefined
  readonly results: readonly SendResult[]
}

/** An answer of the daemon. Without a result and an error it is not an answer of JSON-RPC. */
export interface RpcAnswer {
  readonly http: VendorAnswer
  readonly result?: unknown
  readonly error?: RpcError
}

interface Meaning
  extends Partial<Pick<PluginErrorOptions, 'retryAfter' | 'maybeDelivered' | 'wholeService'>> {
  readonly code: ChannelErrorCode
  /** A sentence with what the operator should do. */
  readonly hint?: string
}

/** The error codes of signal-cli, in addition to those of JSON-RPC (`SignalJsonRpcCommandHandler`). */
const codes = {
  user: -1,
  io: -3,
  untrustedKey: -4,
  rateLimit: -5,
  captchaRejected: -6,
  invalidParams: -32602,
}

export function errorFrom({ http, error }: RpcAnswer, now: number): PluginError {
  if (error === undefined) return notTheDaemon(http, now)
  const reasons = new Set(error.response.results.map(reasonOf))
  const words = [oneLine(error.message, 200).replace(/\.$/, ''), ...reasons].filter(Boolean).join(', ')
  const sentence = `signal-cli answers ${error.code}${words === '' ? '' : `: ${words}`}.`
  return errorOf(sentence, meaningOf(error))
}

function errorOf(said: string, { code, hint, ...facts }: Meaning): PluginError {
  return channelError(code, hint === undefined ? said : `${said} ${hint}`, facts)
}

function meaningOf(error: RpcError): Meaning {
  const results = error.response.results
  switch (error.code) {
    case codes.user:
      return meaningOfAll(results) ?? { code: 'bad-target' }
    case codes.io:
      return unsure
    case codes.untrustedKey:
      return untrusted
    case codes.rateLimit:
      return rateLimited(results)
    case codes.captchaRejected:
      return {
        code: 'bad-credential',
        hint: 'Signal did not take the captcha: solve another and hand it in.',
      }
    case codes.invalidParams:
      return { code: 'bad-credential', hint: 'Set `account` to one that `signal-cli listAccounts` names.' }
    // The daemon has not tried to send what JSON-RPC itself refuses.
    case -32600:
    case -32601:
    case -32700:
      return { code: 'bad-request', hint: 'This signal-cli speaks another protocol.' }
    default:
      return unsure
  }
}

const unsure: Meaning = { code: 'unavailable', maybeDelivered: true }

/** Returns the error for a message that was sent and reached no one. */
export function unreached(results: readonly SendResult[]): PluginError {
  const reasons = new Set(results.map(reasonOf))
  return errorOf(`Signal reached nobody: ${[...reasons].join(', ')}.`, meaningOfAll(results) ?? unsure)
}

const reasons: Readonly<Record<string, string>> = {
  UNREGISTERED_FAILURE: 'not registered with Signal',
  IDENTITY_FAILURE: 'their safety number has changed',
  NETWORK_FAILURE: 'the network failed',
  RATE_LIMIT_FAILURE: 'too many messages',
  INVALID_PRE_KEY_FAILURE: 'their keys are invalid',
}

export function reasonOf({ type }: SendResult): string {
  return Object.hasOwn(reasons, type) ? (reasons[type] ?? type) : oneLine(type, 60)
}

const untrusted: Meaning = {
  code: 'forbidden',
  hint: 'Compare the safety number and trust it: signal-cli trust.',
}

const unregistered: Meaning = {
  code: 'bad-target',
  hint: 'Fix the address, or let them install it.',
}

/** Returns what the results mean if all of them are the same. */
function meaningOfAll(results: readonly SendResult[]): Meaning | undefined {
  const types = new Set(results.map(({ type }) => type))
  if (types.size !== 1) return undefined
  if (types.has('UNREGISTERED_FAILURE')) return unregistered
  if (types.has('IDENTITY_FAILURE')) return untrusted
  if (types.has('RATE_LIMIT_FAILURE')) return rateLimited(results)
  return undefined
}

/** A proof is demanded of the account, so that no other message can be sent before it. */
function rateLimited(results: readonly SendResult[]): Meaning {
  const waits = results.flatMap(({ retryAfterSeconds: wait }) => wait ?? [])
  const retryAfter = waits.length === 0 ? undefined : Math.max(...waits)
  const token = results.find((each) => each.token !== undefined)?.token
  if (token === undefined) return { code: 'rate-limited', retryAfter }
  const hint = `Signal asks for a proof, or to wait: signal-cli submitRateLimitChallenge --challenge ${oneLine(token, 100)} --captcha <from signalcaptchas.org>.`
  return { code: 'rate-limited', retryAfter, wholeService: true, hint }
}

/** Returns the error for an answer that is not JSON-RPC. The daemon answers 200 to everything that it reads as a call. */
export function notTheDaemon(answer: VendorAnswer, now: number, isDelivery = true): PluginError {
  if (answer.status === 415) {
    return channelError('bad-request', 'signal-cli answers 415: it does not take what we send for JSON.')
  }
  if (answer.status === 421) {
    const fix = 'Write the address it listens on into `baseUrl`.'
    return channelError('bad-request', `signal-cli answers 421: it is not asked under this name. ${fix}`)
  }
  return foreignAnswer(answer, { vendor: 'a signal-cli daemon with --http', isDelivery, now })
}

/** Returns the error for an answer of signal-cli-rest-api, whose refusals all have an `error`. */
export function restErrorFrom(answer: VendorAnswer, now: number, isDelivery = true): PluginError {
  const { status, headers, json } = answer
  const { error, challenge_tokens: tokens } = asRecord(json) ?? {}
  if (typeof error !== 'string') {
    return foreignAnswer(answer, { vendor: 'signal-cli-rest-api', isDelivery, now })
  }
  const words = oneLine(error, 200).replace(/\.$/, '')
  const token = Array.isArray(tokens) ? tokens[0] : undefined
  const sentence = `signal-cli-rest-api answers ${status}${words === '' ? '' : `: ${words}`}.`
  const retryAfter = readRetryAfter(headers.get('retry-after'), now)
  return errorOf(sentence, { retryAfter, ...restMeaningOf(status, words, token) })
}

function restMeaningOf(status: number, words: string, token: unknown): Meaning {
  if (status === 429) return restRateLimited(token)
  if (status >= 400 && status < 500) return restRefusal(words)
  return hasDoneNothing(status) ? { code: 'unavailable' } : unsure
}

function restRateLimited(token: unknown): Meaning {
  if (typeof token !== 'string') return { code: 'rate-limited' }
  const hint = `Signal asks for a proof, or to wait: POST /v1/accounts/<number>/rate-limit-challenge with the token ${oneLine(token, 100)} and a captcha from signalcaptchas.org.`
  return { code: 'rate-limited', wholeService: true, hint }
}

/** Reads the words of a refusal. Nearly every failure is a 400 that only its words identify; without known words it is final. */
function restRefusal(words: string): Meaning {
  if (/account does not exist|user .* is not registered/i.test(words)) {
    const hint = 'Set `account` to a number that this API has registered or linked.'
    return { code: 'bad-credential', hint }
  }
  if (/untrusted identit/i.test(words)) {
    return { code: 'forbidden', hint: 'Compare the safety number and trust it.' }
  }
  if (/unregistered|group|recipient/i.test(words)) return { code: 'bad-target' }
  return /IOException|network failure|timed? ?out|connection/i.test(words) ? unsure : { code: 'bad-request' }
}
