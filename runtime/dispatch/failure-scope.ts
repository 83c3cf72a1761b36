/** Decides what a failure means for the channel, beside its meaning for the delivery that met it. */

import { maxRetryAfterMs, outageCodes } from '@reveille/kit'
import type { Failure } from '../agent/failure.ts'

/**
 * `refused`: the operator has to fix something. `limited`: the service said for how long it takes nothing from us. `down`:
 * the service could not be reached, which a single failure does not prove. `answered`: the service is there, and the
 * delivery itself is at fault. `unclear`: the failure shows none of these.
 */
export type FailureScope = 'refused' | 'limited' | 'down' | 'answered' | 'unclear'

/** The host's own code for a call that it had to end. */
export const outOfTime = 'TIMEOUT'

/** The host's own code for a plugin that threw an unexpected error, or returned nonsense. */
export const ownFault = 'CHANNEL_FAILED'

/** Minimum wait in milliseconds: a service that asks for less would be called in a tight loop. */
export const minRetryMs = 250

/** Returns how many milliseconds a service is left alone that said for how long. */
export function pauseAfterLimit({ retryAfterMs = 0 }: Failure): number {
  return Math.max(minRetryMs, Math.min(retryAfterMs, maxRetryAfterMs))
}

export function failureScopeOf({ code, retryable, wholeService, retryAfterMs = 0 }: Failure): FailureScope {
  if (code === 'bad-credential') return 'refused'
  if (wholeService) return retryAfterMs > 0 ? 'limited' : 'refused'
  if (code === ownFault) return 'unclear'
  if (!retryable || code === 'rate-limited') return 'answered'
  return code === outOfTime || outageCodes.has(code) ? 'down' : 'unclear'
}

/** Returns whether a failure says nothing against the delivery: it is no attempt, and does not by itself end the delivery. */
export function isNoAttempt(failure: Failure): boolean {
  const scope = failureScopeOf(failure)
  return scope === 'refused' || scope === 'limited' || failure.code === 'rate-limited'
}
