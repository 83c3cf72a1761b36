/**
 * A circuit of one service: a channel, or a runner with a model. It opens when a failure shows that the service can do nothing for
 * anybody, so that work waits instead of failing, and lets one piece of work through to find out whether that is over:
 *
 *   closed --failure of the whole service--> open --time is over, or configured again--> half-open --success, or an answer--> closed
 *                                             ^------------------ the same failure -----------'
 *
 * Users read `open` for a closed circuit, `held` for an open one and `probing` for a half-open one. Circuits are in memory: after a
 * restart the first tries find out again.
 */

import { type Backoff, backoffMs } from '@reveille/kit'
import type { Failure } from '../agent/failure.ts'
import { type FailureScope, failureScopeOf, pauseAfterLimit } from './failure-scope.ts'
import type { DispatchOptions } from './options.ts'

/** Scope of a failure that opens a circuit. */
export type OpeningScope = Exclude<FailureScope, 'answered' | 'unclear'>

/** The failure that opened a circuit. Times are in milliseconds since the Unix epoch. */
export interface Opening {
  readonly scope: OpeningScope
  readonly code: string
  readonly reason: string
  readonly since: number
  readonly until: number
  /** Number of times in a row that a probe met the same failure. */
  readonly times: number
}

export interface CircuitState {
  readonly opening: Opening | undefined
  readonly isHalfOpen: boolean
}

export interface CircuitOptions extends Pick<DispatchOptions, 'now' | 'timers' | 'random'> {
  /** For how long it stays open where the service does not say. */
  readonly backoffs: Readonly<Record<Exclude<OpeningScope, 'limited'>, Backoff>>
  /** `isRepeated`: a probe met the same failure again. */
  onOpen(opening: Opening, isRepeated: boolean): void
  onClose(opening: Opening): void
  /** Called when more or less may be done than before. */
  onChange(): void
}

export type Circuit = ReturnType<typeof createCircuit>

/** Number of different pieces of work that must fail before a service counts as down. */
const failuresToOpen = 3

export function createCircuit(options: CircuitOptions) {
  const { now, timers, random, backoffs, onOpen, onClose, onChange } = options
  /** Set until the circuit is closed again. */
  let opening: Opening | undefined
  let isHalfOpen = false
  let isStopped = false
  let timer: unknown
  /** Work that found the service down since any found it up. */
  const failures = new Set<string>()

  const isOpen = () => opening !== undefined && !isHalfOpen

  function untilOf(scope: OpeningScope, failure: Failure, times: number): number {
    if (scope === 'limited') return now() + pauseAfterLimit(failure)
    return now() + backoffMs(times, backoffs[scope], random)
  }

  function open(scope: OpeningScope, failure: Failure): void {
    const before = opening
    const isSame = before?.scope === scope
    // Work that was under way when the circuit opened gives no new information.
    if (isOpen() && isSame && scope !== 'limited') return
    const times = isSame ? (before?.times ?? 0) + 1 : 1
    const until = Math.ceil(untilOf(scope, failure, times))
    if (isOpen() && until <= (before?.until ?? 0)) return
    const { code, reason } = failure
    opening = { scope, code, reason, since: before?.since ?? now(), until, times }
    isHalfOpen = false
    onOpen(opening, isSame && times > 1)
    timers.clearTimeout(timer)
    if (!isStopped) timer = timers.setTimeout(halfOpen, Math.max(0, until - now()))
    onChange()
  }

  function halfOpen(): void {
    timers.clearTimeout(timer)
    if (!isOpen()) return
    isHalfOpen = true
    onChange()
  }

  function close(): void {
    failures.clear()
    const before = opening
    if (before === undefined || !isHalfOpen) return
    opening = undefined
    isHalfOpen = false
    onClose(before)
    onChange()
  }

  return {
    state: (): CircuitState => ({ opening, isHalfOpen }),
    /** Until when nothing may be done; undefined for a circuit that is not open. */
    openUntil: () => (isOpen() ? opening?.until : undefined),
    /** The service did what it was asked. */
    succeeded: close,
    /** `work` names what met the failure. `isProven`: the same work met it often enough to prove alone that the service is down. */
    failed(work: string, failure: Failure, isProven = false) {
      const scope = failureScopeOf(failure)
      if (scope === 'answered') return close()
      if (scope === 'unclear') return
      if (scope !== 'down') return open(scope, failure)
      failures.add(work)
      if (isProven || isHalfOpen || failures.size >= failuresToOpen) open(scope, failure)
    },
    /** Something was configured again: one piece of work is tried at once. */
    configured() {
      failures.clear()
      if (opening !== undefined) opening = { ...opening, times: 0 }
      halfOpen()
    },
    stop() {
      isStopped = true
      timers.clearTimeout(timer)
    },
  }
}
