/**
 * Limits how much of the log unauthenticated clients can fill. Of the requests that anybody can send, the first are logged within a minute;
 * the others are counted and reported in one line. At `debug` each of them is logged.
 */

import type { Timers } from '@reveille/engine'
import type { RequestOutcome } from '../request-context.ts'
import { type HookLog, isOperatorProblem } from './request-log.ts'

export interface LogLimiterOptions {
  readonly log: HookLog
  /** Monotonic, in milliseconds. */
  readonly clock: () => number
  readonly timers: Timers
}

const minuteMs = 60_000
const maxPerMinute = 200

export function createLogLimiter({ log, clock, timers }: LogLimiterOptions) {
  const debug = (facts: object) => log.debug(facts)
  const atDebug: HookLog = { debug, info: debug, warn: debug, error: debug }
  let endsAt = Number.NEGATIVE_INFINITY
  let count = 0
  let isWarning = false
  let timer: unknown

  /** Reports what was counted, and begins another minute. */
  function close(): void {
    timers.clearTimeout(timer)
    timer = undefined
    const suppressed = count - maxPerMinute
    if (suppressed > 0) log[isWarning ? 'warn' : 'info']({ event: 'requests-suppressed', count: suppressed })
    count = 0
    isWarning = false
    endsAt = clock() + minuteMs
  }

  return {
    /** The log to which the line of this request goes. */
    logFor(result: RequestOutcome): HookLog {
      if (result.outcome !== 'refused' && result.outcome !== 'handshake') return log
      if (clock() >= endsAt) close()
      count += 1
      if (count <= maxPerMinute) return log
      isWarning ||= 'code' in result && (result.fault !== undefined || isOperatorProblem(result.code))
      timer ??= timers.setTimeout(close, Math.max(0, endsAt - clock()))
      return atDebug
    },
    close,
  }
}
