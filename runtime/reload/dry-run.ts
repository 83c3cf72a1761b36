/** Carries a reload as far as the swap, and finds what it would change for the requests that are kept. */

import {
  type DryRunOf,
  type PastRequest,
  type Reloader,
  type ReloadResult,
  runShadow,
  type Shadow,
} from '@reveille/engine'
import { restoreRequest, trySurface } from '../http/index.ts'
import type { Reader, RequestRecord } from '../store/port.ts'

export interface DryRunResult {
  /** The result of the reload; `live` is what would be live. */
  readonly reload: ReloadResult
  /** Absent if there is nothing to compare, because the content is live already or was refused. */
  readonly shadow?: Shadow
}

/**
 * `limit`: maximum number of requests tried, the newest ones whose bodies are kept. With a generation in `source` it tries a
 * rollback to it, and else a reload of the files. `callsOut`: true if transforms may use the network.
 */
export type DryRun = (
  limit: number,
  options?: { readonly callsOut?: boolean; readonly source?: DryRunOf },
) => Promise<DryRunResult>

export function createDryRun(reloader: Pick<Reloader, 'dryRun'>, read: Pick<Reader, 'recentBodies'>): DryRun {
  return async (limit, { callsOut = false, source } = {}) => {
    const { result, seen } = await reloader.dryRun(async ({ live, candidate, isGivenUp }) => {
      const requests = (await read.recentBodies({ limit })).flatMap(pastRequest)
      const dryRun = callsOut ? 'call-out' : 'refuse'
      return runShadow({ requests, live, candidate, surface: trySurface, dryRun, isGivenUp })
    }, source)
    return { reload: result, ...(seen && { shadow: seen }) }
  }
}

/** A request that cannot be restored is left out. */
function pastRequest(record: RequestRecord): PastRequest[] {
  const received = restoreRequest(record)
  return received === undefined ? [] : [{ ...received, id: record.id }]
}
