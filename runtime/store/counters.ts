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

type Limits = Pick<StoreLimits, 'backlog'>

/** @throws StoreError `BACKLOG`, before anything was written */
export function refuseOverBacklog({ backlog }: { readonly backlog: number }, limits: Limits): void {
  if (backlog >= limits.backlog) throw full(backlog, 'runs and deliveries', limits)
}

/** @throws StoreError `BACKLOG`, before anything was written */
export function refuseOverEvents({ pending }: { readonly pending: number }, limits: Limits): void {
  if (pending >= limits.backlog) throw full(pending, 'events', limits)
}

function full(count: number, what: string, { backlog }: Limits): StoreError {
  return new StoreError('BACKLOG', `${count} ${what} are waiting, the limit is ${backlog}`)
}
