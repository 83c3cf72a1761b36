/** Owns what a failure says about the channel, beside what it says about the one delivery that met it. */

import { longestRetryAfterMs } from '@reveille/kit'
import type { Failure } from '../../agent/failure.ts'

/**
 * `refused`: the operator has to mend something. `limited`: the service said how long it takes nothing from us. `down`:
 * the service was not to be had, which one failure alone does not prove. `answered`: the service is there, and what is
 * wrong is this delivery's own. `unclear`: nothing of it.
 */
export type Trouble = 'refused' | 'limited' | 'down' | 'answered' | 'unclear'

/** What the host says of a call that had to be ended. */
export const outOfTime = 'TIMEOUT'

const downCodes = new Set(['network', 'timeout', 'unavailable', outOfTime])

/** What the host says of a plugin that threw an error of its own, or answered nonsense. */
export const ownFault = 'CHANNEL_FAILED'

/** A service that says less over and over would be asked over and over. Milliseconds. */
export const leastRetryMs = 250

/** How long a vendor is left alone that said for how long. Milliseconds. */
export function patienceOf({ retryAfterMs = 0 }: Failure): number {
  return Math.max(leastRetryMs, Math.min(retryAfterMs, longestRetryAfterMs))
}

export function troubleOf({ code, retryable, wholeChannel, retryAfterMs = 0 }: Failure): Trouble {
  if (code === 'bad-credential') return 'refused'
  if (wholeChannel) return retryAfterMs > 0 ? 'limited' : 'refused'
  if (code === ownFault) return 'unclear'
  if (!retryable || code === 'rate-limited') return 'answered'
  return downCodes.has(code) ? 'down' : 'unclear'
}

/** Whether a failure says nothing against the delivery: it is no attempt, and nothing is given up because of it alone. */
export function isNoAttempt(failure: Failure): boolean {
  const trouble = troubleOf(failure)
  return trouble === 'refused' || trouble === 'limited' || failure.code === 'rate-limited'
}
