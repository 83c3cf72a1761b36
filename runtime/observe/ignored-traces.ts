/** Remembers why the last requests of each endpoint were ignored; they are explained after the reply to their senders. */

import type { CandidateTrace, HookRequest, Snapshot } from '@reveille/engine'
import type { Id } from '../store/port.ts'

interface IgnoredTrace {
  /** In matching order, each with the first clause that failed. */
  readonly candidates: readonly CandidateTrace[]
  /** Candidates beyond those shown. */
  readonly more: number
  /** Present if the body was read as a form that holds no JSON. */
  readonly isForm?: true
}

/** How many traces of one endpoint are kept. */
const keptPerEndpoint = 20
/** How many traces are kept in all, because a catch-all lets a sender make up any number of endpoints. */
const keptInAll = 400
const shownCandidates = 50
/** How many requests may wait to be explained; each holds its body. */
const mostWaiting = 8

interface Asked {
  readonly id: Id
  readonly snapshot: Snapshot
  readonly request: HookRequest
}

/** An ignored request, with why each mapping did not match. */
export interface ExplainedRequest extends Asked {
  readonly candidates: readonly CandidateTrace[]
}

/** Traces are kept in memory: they help to fix a mapping now, and most requests may be ignored ones. */
export function createIgnoredTraces(onExplained?: (ignored: ExplainedRequest) => void) {
  const traces = new Map<Id, IgnoredTrace>()
  const byEndpoint = new Map<string, Id[]>()
  const waiting: Asked[] = []
  let busy = false

  /** Explains the request when the event loop is idle; under a flood, only the newest requests are explained. */
  function note(id: Id, snapshot: Snapshot, request: HookRequest): void {
    waiting.push({ id, snapshot, request })
    if (waiting.length > mostWaiting) waiting.shift()
    if (busy) return
    busy = true
    setImmediate(explainNext)
  }

  function explainNext(): void {
    const asked = waiting.shift()
    if (asked === undefined) {
      busy = false
      return
    }
    void asked.snapshot
      .explain(asked.request)
      .then(({ candidates }) => {
        keep(asked, candidates)
        onExplained?.({ ...asked, candidates })
      })
      .finally(() => setImmediate(explainNext))
  }

  function keep({ id, request: { endpoint, isForm } }: Asked, candidates: readonly CandidateTrace[]): void {
    const shown = candidates.slice(0, shownCandidates)
    traces.set(id, {
      candidates: shown,
      more: candidates.length - shown.length,
      ...(isForm === true && { isForm }),
    })
    const ids = byEndpoint.get(endpoint) ?? []
    // The endpoint that was quiet for the longest time comes first, and loses its traces first.
    byEndpoint.delete(endpoint)
    byEndpoint.set(endpoint, ids)
    ids.push(id)
    if (ids.length > keptPerEndpoint) forget(endpoint, ids)
    else if (traces.size > keptInAll) forgetOldestOfQuietest()
  }

  function forgetOldestOfQuietest(): void {
    const [first] = byEndpoint
    if (first !== undefined) forget(...first)
  }

  function forget(endpoint: string, ids: Id[]): void {
    const oldest = ids.shift()
    if (oldest !== undefined) traces.delete(oldest)
    if (ids.length === 0) byEndpoint.delete(endpoint)
  }

  /** Undefined for a request that was not ignored, or is no longer among the last. */
  const of = (id: Id): IgnoredTrace | undefined => traces.get(id)
  return { note, of }
}
