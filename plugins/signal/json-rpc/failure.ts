/** Owns what the daemon's refusals mean: may it be tried again, when, and what the operator can do. */

import { type ChannelErrorCode, oneLine, PluginError, type PluginErrorOptions } from '@reveille/kit'
import type { RpcAnswer, RpcError, SendResult } from './rpc.ts'

type Facts = Omit<PluginErrorOptions, 'code'> & { readonly code: ChannelErrorCode; readonly hint?: string }

/** Errors of signal-cli besides those of JSON-RPC itself (`SignalJsonRpcCommandHandler`). */
const codes = {
  user: -1,
  io: -3,
  untrustedKey: -4,
  rateLimit: -5,
  captchaRejected: -6,
  invalidParams: -32602,
}

export function failureOf({ http, error }: RpcAnswer): PluginError {
  if (error === undefined) return statusFailure(http.status)
  const { hint, ...facts } = factsOf(error)
  const words = oneLine(error.message ?? '', 200).replace(/\.$/, '')
  const said = `signal-cli answers ${error.code}${words === '' ? '' : `: ${words}`}.`
  return new PluginError(hint === undefined ? said : `${said} ${hint}`, facts)
}

function factsOf(error: RpcError): Facts {
  const results = error.data?.response?.results ?? []
  switch (error.code) {
    case codes.user:
      return resultFacts(results) ?? { code: 'bad-target', retryable: false }
    case codes.io:
      return { code: 'unavailable', retryable: true, maybeDelivered: true }
    case codes.untrustedKey:
      return untrusted
    case codes.rateLimit:
      return rateLimited(results)
    case codes.captchaRejected:
      return badCredential('Signal did not take the captcha: solve another and hand it in.')
    case codes.invalidParams:
      return badCredential('Set `account` to one that `signal-cli listAccounts` names.')
    // What JSON-RPC itself refuses has not been tried.
    case -32600:
    case -32601:
    case -32700:
      return { code: 'bad-request', retryable: false, hint: 'This signal-cli speaks another protocol.' }
    default:
      return { code: 'unavailable', retryable: true, maybeDelivered: true }
  }
}

/** The message went out, and reached nobody. */
export function unreached(results: readonly SendResult[]): PluginError {
  const { hint, ...facts } = resultFacts(results) ?? {
    code: 'unavailable' as const,
    retryable: true,
    maybeDelivered: true,
  }
  const reasons = new Set(results.map(reasonOf))
  const said = `Signal reached nobody: ${[...reasons].join(', ')}.`
  return new PluginError(hint === undefined ? said : `${said} ${hint}`, facts)
}

const reasons: Readonly<Record<string, string>> = {
  UNREGISTERED_FAILURE: 'not registered with Signal',
  IDENTITY_FAILURE: 'their safety number has changed',
  NETWORK_FAILURE: 'the network failed',
  RATE_LIMIT_FAILURE: 'too many messages',
  INVALID_PRE_KEY_FAILURE: 'their keys are invalid',
}

export function reasonOf({ type = 'no result' }: SendResult): string {
  return Object.hasOwn(reasons, type) ? (reasons[type] ?? type) : oneLine(type, 60)
}

const untrusted: Facts = {
  code: 'forbidden',
  retryable: false,
  hint: 'Compare the safety number and trust it: signal-cli trust.',
}

/** By what befell all of them; nothing where that differs. */
function resultFacts(results: readonly SendResult[]): Facts | undefined {
  const types = new Set(results.map(({ type }) => type))
  if (types.size !== 1) return undefined
  if (types.has('UNREGISTERED_FAILURE')) return { code: 'bad-target', retryable: false }
  if (types.has('IDENTITY_FAILURE')) return untrusted
  if (types.has('RATE_LIMIT_FAILURE')) return rateLimited(results)
  return undefined
}

/** A proof is asked of the account, so that nothing else would go out before it either. */
function rateLimited(results: readonly SendResult[]): Facts {
  const waits = results.flatMap(({ retryAfterSeconds: wait }) => (typeof wait === 'number' ? [wait] : []))
  const retryAfter = waits.length === 0 ? undefined : Math.max(...waits)
  const token = results.find((each) => typeof each.token === 'string')?.token
  if (token === undefined) return { code: 'rate-limited', retryable: true, retryAfter }
  const hint = `Signal asks for a proof, or to wait: signal-cli submitRateLimitChallenge --challenge ${oneLine(token, 100)} --captcha <from signalcaptchas.org>.`
  return { code: 'rate-limited', retryable: true, retryAfter, wholeChannel: true, hint }
}

function badCredential(hint: string): Facts {
  return { code: 'bad-credential', retryable: true, wholeChannel: true, hint }
}

/** The daemon itself answers everything with 200, but what it does not take for a call. */
function statusFailure(status: number): PluginError {
  switch (status) {
    case 415:
      return new PluginError('signal-cli answers 415: it does not take what we send for JSON.', {
        code: 'bad-request',
        retryable: false,
      })
    case 421:
      return new PluginError(
        'signal-cli answers 421: it is not asked under this name. Write the address it listens on into `baseUrl`.',
        { code: 'bad-request', retryable: false },
      )
    case 404:
    case 405:
      return new PluginError(`What answers at \`baseUrl\` (${status}) is no signal-cli daemon with --http.`, {
        code: 'unavailable',
        retryable: true,
        wholeChannel: true,
      })
    default:
      return new PluginError(`What answers at \`baseUrl\` (${status}) does not speak as signal-cli does.`, {
        code: 'unavailable',
        retryable: true,
        maybeDelivered: true,
      })
  }
}
