/** Rejects senders that are not authenticated or send too often: 401 and 429, with the time to wait. */

import { type EffectivePolicy, placeOfPolicyValue } from '@reveille/engine'
import type { Throttle, Wait } from '../clients/throttle.ts'
import { type Refused, type RequestContext, refused } from '../request-context.ts'
import { type AuthFailure, isWrongTry, sentenceOf } from './auth-failure.ts'

export type RejectUnauthenticated = ReturnType<typeof createRejectUnauthenticated>

/** A wrong try is counted. After too many of them, a sender that shows nothing has to wait as well. */
export function createRejectUnauthenticated({ wrong, blocked }: Pick<Throttle, 'wrong' | 'blocked'>) {
  return async function rejectUnauthenticated(
    { client }: Pick<RequestContext, 'client'>,
    authFailure: AuthFailure,
  ): Promise<Refused> {
    const reason = { failure: authFailure.failure, reason: sentenceOf(authFailure) }
    const seconds = await (isWrongTry(authFailure) ? wrong(client) : blocked(client))
    return seconds === undefined
      ? { ...refused('UNAUTHORIZED'), ...reason }
      : { ...refused('TOO_MANY_TRIES'), retryAfter: seconds, ...reason }
  }
}

/**
 * Returns undefined while the rate is kept, and at once where there is none. `whose` names which of the two rates of the policy
 * applies.
 */
export function overRate(
  wait: Wait,
  whose: 'client' | 'endpoint',
  rate: EffectivePolicy['rate'],
): Promise<Refused | undefined> | undefined {
  return wait === undefined ? undefined : refuseAfter(wait, whose, rate)
}

async function refuseAfter(
  wait: Wait,
  whose: 'client' | 'endpoint',
  rate: EffectivePolicy['rate'],
): Promise<Refused | undefined> {
  const retryAfter = await wait
  if (retryAfter === undefined || rate === undefined) return undefined
  const reason = `it is one more than ${placeOfPolicyValue('rate', rate)}.${whose} allows`
  return { ...refused('RATE_LIMITED'), retryAfter, reason }
}
