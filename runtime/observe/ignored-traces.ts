/** Owns why requests were ignored: the last of each endpoint, explained once their senders have been answered. */

import type { CandidateTrace, HookRequest, Snapshot } from '@reveille/engine'
import type { Id } from '../store/port.ts'

export interface IgnoredTraces {
  /** Explains the request when nothing more pressing is to be done; under a flood, only the newest are explained. */
  note(id: Id, snapshot: Snapshot, request: HookRequest): void
  /** Absent for a request that was not ignored, or is no longer among the last. */
  of(id: Id): IgnoredTrace | undefined
}

interface IgnoredTrace {
  /** In matching order, each with the first clause that failed. */
  readonly candidates: readonly CandidateTrace[]
  /** Candidates beyond those shown. */
  readonly more: number
  /** The body was read as a form, and no JSON was found in it. Absent: it was not. */
  readonly isForm?: true
}

/** Requests of one endpoint whose traces are kept. */
const keptPerEndpoint = 20
/** Over all endpoints: a catch-all lets a sender make up as many as it likes. */
const keptInAll = 400
const shownCandidates = 50
/** Requests that wait to be explained; each holds its body. */
const mostWaiting = 8

interface Asked {
  readonly id: Id
  readonly snapshot: Snapshot
  readonly request: HookRequest
}

/** Kept in memory: a trace helps whoever is mending a mapping now, and ignored requests are the many. */
export function createIgnoredTraces(): IgnoredTraces {
  const traces = new Map<Id, IgnoredTrace>()
  const byEndpoint = new Map<string, Id[]>()
  const waiting: Asked[] = []
  let busy = false

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
      .then(({ candidates }) => keep(asked, candidates))
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
    // The endpoint that was quiet for longest comes first, and goes first.
    byEndpoint.delete(endpoint)
    byEndpoint.set(endpoint, ids)
    ids.push(id)
    if (ids.length > keptPerEndpoint) forget(endpoint, ids)
    else if (traces.size > keptInAll) forgetOfQuietest()
  }

  function forgetOfQuietest(): void {
    const [first] = byEndpoint
    if (first !== undefined) forget(...first)
  }

  function forget(endpoint: string, ids: Id[]): void {
    const oldest = ids.shift()
    if (oldest !== undefined) traces.delete(oldest)
    if (ids.length === 0) byEndpoint.delete(endpoint)
  }

  return { note, of: (id) => traces.get(id) }
}
