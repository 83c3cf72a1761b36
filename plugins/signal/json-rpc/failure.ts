/** Owns what the daemon's refusals mean: may it be tried again, when, and what the operator can do. */

import {
  type ChannelErrorCode,
  channelError,
  foreignAnswer,
  oneLine,
  type PluginError,
  type PluginErrorOptions,
  type VendorAnswer,
} from '@reveille/kit'

import type { RpcAnswer, RpcError, SendResult } from './rpc.ts'

interface Meaning
  extends Partial<Pick<PluginErrorOptions, 'retryAfter' | 'maybeDelivered' | 'wholeChannel'>> {
  readonly code: ChannelErrorCode
  /** A sentence: what the operator can do. */
  readonly hint?: string
}

/** Errors of signal-cli besides those of JSON-RPC itself (`SignalJsonRpcCommandHandler`). */
const codes = {
  user: -1,
  io: -3,
  untrustedKey: -4,
  rateLimit: -5,
  captchaRejected: -6,
  invalidParams: -32602,
}

export function failureOf({ http, error }: RpcAnswer, now: number): PluginError {
  if (error === undefined) return notTheDaemon(http, now)
  const { code, hint, ...facts } = meaningOf(error)
  const reasons = new Set(error.response.results.map(reasonOf))
  const words = [oneLine(error.message, 200).replace(/\.$/, ''), ...reasons].filter(Boolean).join(', ')
  const said = `signal-cli answers ${error.code}${words === '' ? '' : `: ${words}`}.`
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
    // What JSON-RPC itself refuses has not been tried.
    case -32600:
    case -32601:
    case -32700:
      return { code: 'bad-request', hint: 'This signal-cli speaks another protocol.' }
    default:
      return unsure
  }
}

const unsure: Meaning = { code: 'unavailable', maybeDelivered: true }

/** The message went out, and reached nobody. */
export function unreached(results: readonly SendResult[]): PluginError {
  const { code, hint, ...facts } = meaningOfAll(results) ?? unsure
  const reasons = new Set(results.map(reasonOf))
  const said = `Signal reached nobody: ${[...reasons].join(', ')}.`
  return channelError(code, hint === undefined ? said : `${said} ${hint}`, facts)
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
  hint: 'Mend the address, or let them install it.',
}

/** By what befell all of them; nothing where that differs. */
function meaningOfAll(results: readonly SendResult[]): Meaning | undefined {
  const types = new Set(results.map(({ type }) => type))
  if (types.size !== 1) return undefined
  if (types.has('UNREGISTERED_FAILURE')) return unregistered
  if (types.has('IDENTITY_FAILURE')) return untrusted
  if (types.has('RATE_LIMIT_FAILURE')) return rateLimited(results)
  return undefined
}

/** A proof is asked of the account, so that nothing else would go out before it either. */
function rateLimited(results: readonly SendResult[]): Meaning {
  const waits = results.flatMap(({ retryAfterSeconds: wait }) => wait ?? [])
  const retryAfter = waits.length === 0 ? undefined : Math.max(...waits)
  const token = results.find((each) => each.token !== undefined)?.token
  if (token === undefined) return { code: 'rate-limited', retryAfter }
  const hint = `Signal asks for a proof, or to wait: signal-cli submitRateLimitChallenge --challenge ${oneLine(token, 100)} --captcha <from signalcaptchas.org>.`
  return { code: 'rate-limited', retryAfter, wholeChannel: true, hint }
}

/** The daemon itself answers everything with 200, but what it does not take for a call. */
export function notTheDaemon(answer: VendorAnswer, now: number, delivers = true): PluginError {
  if (answer.status === 415) {
    return channelError('bad-request', 'signal-cli answers 415: it does not take what we send for JSON.')
  }
  if (answer.status === 421) {
    const fix = 'Write the address it listens on into `baseUrl`.'
    return channelError('bad-request', `signal-cli answers 421: it is not asked under this name. ${fix}`)
  }
  return foreignAnswer(answer, { vendor: 'a signal-cli daemon with --http', delivers, now })
}
