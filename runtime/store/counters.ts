/** The counts and limits of every store, and the errors beyond a limit. */

import { StoreError, type StoreLimits } from './port.ts'

/** Outcomes of requests that caused nothing. */
export const outcomesWithoutEffect = ['ignored', 'skipped', 'duplicate', 'failed', 'refused'] as const
export type OutcomeWithoutEffect = (typeof outcomesWithoutEffect)[number]

export function withoutEffect(outcome: string): OutcomeWithoutEffect | undefined {
  return outcomesWithoutEffect.find((each) => each === outcome)
}

/** Default limit of kept requests of each outcome without effect: about 60 MB for each outcome, without bodies. */
export const defaultMaxWithoutEffect = 100_000
export const defaultMaxBodyBytes = 1024 ** 3

/** Returns the error `BACKLOG` for what is not accepted, before anything was written; undefined below the limit. */
export function overLimit(
  count: number,
  what: 'runs and deliveries' | 'events',
  { backlog }: Pick<StoreLimits, 'backlog'>,
): StoreError | undefined {
  if (count < backlog) return undefined
  return new StoreError('BACKLOG', `${count} ${what} are waiting, the limit is ${backlog}`)
}
