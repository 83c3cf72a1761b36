/** Rejects senders that are not authenticated or send too often: 401 and 429, with the time to wait. */

import { type EffectivePolicy, placeOfPolicyValue } from '@reveille/engine'
import type { Throttle, Wait } from '../clients/throttle.ts'
import { type Refused, type RequestContext, refused } from '../request-context.ts'
import { type AuthFailure, isWrongTry, sentenceOf } from './auth-failure.ts'

export type RejectUnauthenticated = ReturnType<typeof createRejectUnauthenticated>

/** A wrong try is counted. After too many of them, a sender that shows nothing has to wait as well. */
export function createRejectUnauthenticated({ wrong, blocked }: Pick<Throttle, 'wrong' | 'blocked'>) {
  return function rejectUnauthenticated(
    { client }: Pick<RequestContext, 'client'>,
    authFailure: AuthFailure,
  ): Refused {
    const reason = { failure: authFailure.failure, reason: sentenceOf(authFailure) }
    const seconds = isWrongTry(authFailure) ? wrong(client) : blocked(client)
    return seconds === undefined
      ? { ...refused('UNAUTHORIZED'), ...reason }
      : { ...refused('TOO_MANY_TRIES'), retryAfter: seconds, ...reason }
  }
}

/** Returns undefined while the rate is kept. `whose` names which of the two rates of the policy applies. */
export function overRate(
  retryAfter: Wait,
  whose: 'client' | 'endpoint',
  rate: EffectivePolicy['rate'],
): Refused | undefined {
  if (retryAfter === undefined || rate === undefined) return undefined
  const reason = `it is one more than ${placeOfPolicyValue('rate', rate)}.${whose} allows`
  return { ...refused('RATE_LIMITED'), retryAfter, reason }
}
