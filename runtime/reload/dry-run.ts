/** Owns the dry run: a reload that is carried as far as the swap, and what it would change for requests that are kept. */

import { type PastRequest, type Reloader, type ReloadResult, runShadow, type Shadow } from '@reveille/engine'
import { restoreRequest, trySurface } from '../http/index.ts'
import type { Reader, RequestRecord } from '../store/port.ts'

export interface DryRunResult {
  /** Of the reload; `live` is what it would be. */
  readonly reload: ReloadResult
  /** Absent where there is nothing to compare: the content is what serves, or was refused. */
  readonly shadow?: Shadow
}

/** `limit`: how many requests are looked at, the newest whose bodies are kept. */
export type DryRun = (limit: number) => Promise<DryRunResult>

export function createDryRun(reloader: Pick<Reloader, 'dryRun'>, read: Pick<Reader, 'recentBodies'>): DryRun {
  return async (limit) => {
    const { result, seen } = await reloader.dryRun(async ({ live, candidate, isGivenUp }) => {
      const requests = (await read.recentBodies({ limit })).flatMap(pastRequest)
      return runShadow({ requests, live, candidate, surface: trySurface, isGivenUp })
    })
    return { reload: result, ...(seen && { shadow: seen }) }
  }
}

/** Refused ones say nothing: most never came to be resolved. */
function pastRequest(record: RequestRecord): PastRequest[] {
  const received = restoreRequest(record)
  return received === undefined ? [] : [{ ...received, id: record.id }]
}
