/** Owns the limits on what waits. */

import { StoreError, type StoreLimits } from '../port.ts'
import type { Tally } from './tally.ts'

type Waiting = Pick<Tally, 'backlog' | 'pending'>
type Limits = Pick<StoreLimits, 'backlog'>

/** @throws StoreError `BACKLOG`, before anything was written */
export function refuseOverBacklog(waiting: Waiting, limits: Limits): void {
  if (isFull(waiting, limits)) refuse(waiting.backlog, 'runs and deliveries', limits)
}

/** @throws StoreError `BACKLOG`, before anything was written */
export function refuseOverEvents(waiting: Waiting, limits: Limits): void {
  if (isFullOfEvents(waiting, limits)) refuse(waiting.pending, 'events', limits)
}

export function isFull({ backlog }: Waiting, limits: Limits): boolean {
  return backlog >= limits.backlog
}

export function isFullOfEvents({ pending }: Waiting, limits: Limits): boolean {
  return pending >= limits.backlog
}

function refuse(count: number, what: string, { backlog }: Limits): never {
  throw new StoreError('BACKLOG', `${count} ${what} are waiting, the limit is ${backlog}`)
}
