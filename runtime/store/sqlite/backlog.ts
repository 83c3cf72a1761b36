/** Owns the limit on what waits. */

import { StoreError, type StoreLimits } from '../port.ts'
import type { Tally } from './tally.ts'

/** @throws StoreError `BACKLOG`, before anything was written */
export function refuseOverBacklog(
  { backlog }: Pick<Tally, 'backlog'>,
  limits: Pick<StoreLimits, 'backlog'>,
): void {
  if (backlog < limits.backlog) return
  throw new StoreError(
    'BACKLOG',
    `${backlog} runs and deliveries are waiting, the limit is ${limits.backlog}`,
  )
}
