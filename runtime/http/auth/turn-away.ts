/** Owns how a sender is turned away that is not believed, or that asks too often: 401 and 429, with how long to wait. */

import { placeOfTerm, type Terms } from '@reveille/engine'
import type { Throttle, Wait } from '../clients/throttle.ts'
import { type Exchange, type Refused, refused } from '../exchange.ts'
import { type Distrust, isWrongTry, sentenceOf } from './trust-failure.ts'

export type TurnAway = (exchange: Pick<Exchange, 'client'>, distrust: Distrust) => Promise<Refused>

/** A wrong try is counted; once there were too many, whoever shows nothing is told to wait as well. */
export function createTurnAway({ wrong, blocked }: Pick<Throttle, 'wrong' | 'blocked'>): TurnAway {
  return async function turnAway({ client }, distrust) {
    const reason = { failure: distrust.failure, told: sentenceOf(distrust) }
    const seconds = await (isWrongTry(distrust) ? wrong(client) : blocked(client))
    return seconds === undefined
      ? { ...refused('UNAUTHORIZED'), ...reason }
      : { ...refused('TOO_MANY_TRIES'), retryAfter: seconds, ...reason }
  }
}

/** Undefined: the rate is kept. `whose`: which of the policy's rates was asked. */
export async function overRate(
  wait: Wait,
  whose: 'client' | 'endpoint',
  rate: Terms['rate'],
): Promise<Refused | undefined> {
  const retryAfter = await wait
  if (retryAfter === undefined || rate === undefined) return undefined
  const told = `it is one more than ${placeOfTerm('rate', rate)}.${whose} allows`
  return { ...refused('RATE_LIMITED'), retryAfter, told }
}
