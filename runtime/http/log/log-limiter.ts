/**
 * Limits how much of the log unauthenticated clients can fill. Of the requests that anybody can send, the first of each client and the first
 * of all clients are logged within a minute; the others are counted and reported in one line. At `debug` each of them is logged.
 */

import type { Timers } from '@reveille/engine'
import { clientKey } from '../clients/client.ts'
import type { RequestContext, RequestOutcome } from '../request-context.ts'
import { type HookLog, isOperatorProblem } from './request-log.ts'

export interface LogLimiterOptions {
  readonly log: HookLog
  /** Monotonic, in milliseconds. */
  readonly clock: () => number
  readonly timers: Timers
}

const minuteMs = 60_000
/** All wrong tries that a client has, and the first one that has to wait. */
const maxPerClient = 21
const maxPerMinute = 200
/** Maximum number of different clients counted among the suppressed lines. */
const maxCounted = 1000

function beginMinute(now: number) {
  return {
    endsAt: now + minuteMs,
    /** Lines that were written, by client: no more entries than there are lines. */
    lines: new Map<string, number>(),
    written: 0,
    suppressed: 0,
    isWarning: false,
    clients: new Set<string>(),
    /** By code, of which there is a fixed number. */
    reasons: new Map<string, number>(),
  }
}

type Minute = ReturnType<typeof beginMinute>

export function createLogLimiter({ log, clock, timers }: LogLimiterOptions) {
  const debug = (facts: object) => log.debug(facts)
  const atDebug: HookLog = { debug, info: debug, warn: debug, error: debug }
  let minute: Minute | undefined
  let timer: unknown

  /** Reports what was counted. */
  function close(): void {
    if (timer !== undefined) timers.clearTimeout(timer)
    timer = undefined
    const past = minute
    minute = undefined
    if (past === undefined || past.suppressed === 0) return
    const facts = {
      event: 'requests-suppressed',
      count: past.suppressed,
      clients: past.clients.size,
      reasons: Object.fromEntries(past.reasons),
    }
    if (past.isWarning) log.warn(facts)
    else log.info(facts)
  }

  function current(): Minute {
    const now = clock()
    if (minute !== undefined && now >= minute.endsAt) close()
    minute ??= beginMinute(now)
    return minute
  }

  function hasRoom({ lines, written }: Minute, client: string): boolean {
    return written < maxPerMinute && (lines.get(client) ?? 0) < maxPerClient
  }

  function suppress(within: Minute, client: string, result: RequestOutcome): void {
    within.suppressed += 1
    within.isWarning ||= 'code' in result && (result.fault !== undefined || isOperatorProblem(result.code))
    if (within.clients.size < maxCounted) within.clients.add(client)
    const reason = 'code' in result ? countedCode(result) : 'HANDSHAKE'
    within.reasons.set(reason, (within.reasons.get(reason) ?? 0) + 1)
    timer ??= timers.setTimeout(close, Math.max(0, within.endsAt - clock()))
  }

  return {
    /** The log to which the line of this request goes. */
    logFor({ client }: Pick<RequestContext, 'client'>, result: RequestOutcome): HookLog {
      if (result.outcome !== 'refused' && result.outcome !== 'handshake') return log
      const now = current()
      const key = clientKey(client)
      if (!hasRoom(now, key)) {
        suppress(now, key, result)
        return atDebug
      }
      now.written += 1
      now.lines.set(key, (now.lines.get(key) ?? 0) + 1)
      return log
    },
    close,
  }
}

/** For a client that has to wait, it does not matter what it would have been refused for. */
function countedCode({ code, failure }: Extract<RequestOutcome, { code: unknown }>): string {
  return code === 'TOO_MANY_TRIES' ? code : (failure ?? code)
}
