/** Turns a refusal of OpenClaw into an error with the fix in a sentence, and whether to retry. */

import {
  compileRedaction,
  isPluginError,
  oneLine,
  type PluginError,
  permanentError,
  transientError,
} from '@reveille/kit'
import type { Answer } from './answer.ts'
import { addressOf, type Hook, type OpenClawConfig } from './configuration.ts'

export interface ErrorOptions {
  readonly config: OpenClawConfig
  readonly hook: Hook
  /** The seconds that OpenClaw asked to wait. */
  readonly retryAfter: number | undefined
}

/** Maximum length of OpenClaw's own words in an error, in characters. */
const maxQuoteLength = 200

export function errorFrom(answer: Answer, { config, hook, retryAfter }: ErrorOptions): PluginError {
  const { status } = answer
  const quoted = quote(answer.said, config)
  const words = quoted === '' ? '' : `: ${quoted}`
  const permanent = (code: string, text: string, wholeService = false) =>
    permanentError(code, `${text}.`, { wholeService })

  if (status === 401 || status === 403) {
    const fix = 'the token of this runner has to be the `hooks.token` of its configuration'
    return permanent('bad-credential', `OpenClaw refused the token (${status}); ${fix}`, true)
  }
  // The path may be that of OpenClaw's control page, which accepts no POST.
  if (status === 404 || status === 405) {
    const { pathname } = new URL(addressOf(config, hook))
    const fix = 'set `hooks.enabled: true` there, or fix `url` or `hooksPath` of this runner'
    return permanent('not-found', `OpenClaw has nothing at ${pathname} (${status}); ${fix}`, true)
  }
  if (status === 413) {
    return permanent(
      'too-large',
      'OpenClaw takes nothing as long as this (413); raise `hooks.maxBodyBytes` there',
    )
  }
  if (isAboutSessionKey(answer)) {
    const fix = 'set `hooks.allowRequestSessionKey: true` there, or `sessionKey: omit` for this runner'
    return permanent('bad-request', `OpenClaw refused the session key; ${fix}${words}`)
  }
  if (status >= 500 || status === 408 || status === 425 || status === 429) {
    const code = status === 429 ? 'rate-limited' : 'unavailable'
    // A proxy may have passed the request on before it gave up.
    const maybeDelivered = status >= 500 && status !== 503
    return transientError(code, `OpenClaw cannot take it now (${status})${words}.`, {
      maybeDelivered,
      retryAfter,
    })
  }
  return permanent('bad-request', `OpenClaw refused the request (${status})${words}`)
}

/** True if OpenClaw refuses the session key of a request, in its words since 2026.2.12. */
export function isAboutSessionKey({ status, said }: Answer): boolean {
  return status === 400 && /session[ _-]?key/i.test(said ?? '')
}

export function foreignAnswer({ status }: Answer): PluginError {
  const what = `What answers at the \`url\` of this runner is not OpenClaw's hooks (${status}, no JSON)`
  return transientError('malformed', `${what}; a proxy or another page may answer instead.`)
}

/** Returns the error for a request without an answer. `late` is aborted when the time of the request is over. */
export function noAnswer(
  error: unknown,
  { signal, late, timeout }: { signal: AbortSignal; late: AbortSignal; timeout: string },
): PluginError {
  if (signal.aborted) return abortError()
  if (isPluginError(error)) return error
  const facts = { maybeDelivered: true }
  if (late.aborted) return transientError('timeout', `OpenClaw did not answer within ${timeout}.`, facts)
  return transientError('network', 'The connection to OpenClaw failed before it had answered.', facts)
}

export function abortError(): PluginError {
  return transientError('aborted', 'The turn was called off.')
}

/** Quotes OpenClaw's words as one line, without the token and without a full stop. */
function quote(said: string | undefined, { token }: OpenClawConfig): string {
  return oneLine(compileRedaction([token])(said ?? ''), maxQuoteLength).replace(/[.!]$/, '')
}
