/**
 * Owns how much of the log strangers may fill: of requests that anybody can send, the first of each client and the first
 * of all clients are told within a minute, the others are counted and told in one line. `debug` has them all.
 */

import type { Timers } from '@reveille/engine'
import { clientKey } from './clients/client.ts'
import type { Ending, Exchange } from './exchange.ts'
import { type HookLog, isOurTrouble } from './log.ts'

export interface RefusedLines {
  /** The log in which this ending is told. */
  logFor(exchange: Pick<Exchange, 'client'>, ending: Ending): HookLog
  /** Tells what was counted. */
  close(): void
}

export interface RefusedLinesOptions {
  readonly log: HookLog
  /** Monotonic, in milliseconds. */
  readonly clock: () => number
  readonly timers: Timers
}

const minuteMs = 60_000
/** As many as a client has tries, and the one after which it is told to wait. */
const mostOfClient = 21
const mostOfAll = 200
/** Clients that are told apart among those that are counted. */
const mostCounted = 1000

interface Minute {
  readonly endsAt: number
  /** Lines that were written, by client: no more entries than there are lines. */
  readonly lines: Map<string, number>
  written: number
  untold: number
  isGrave: boolean
  readonly clients: Set<string>
  /** By code, of which there are as many as we wrote. */
  readonly reasons: Map<string, number>
}

export function createRefusedLines({ log, clock, timers }: RefusedLinesOptions): RefusedLines {
  const debug = (facts: object) => log.debug(facts)
  const quiet: HookLog = { debug, info: debug, warn: debug, error: debug }
  let minute: Minute | undefined
  let timer: unknown

  function close(): void {
    if (timer !== undefined) timers.clearTimeout(timer)
    timer = undefined
    const over = minute
    minute = undefined
    if (over === undefined || over.untold === 0) return
    const facts = {
      event: 'requests-untold',
      count: over.untold,
      clients: over.clients.size,
      reasons: Object.fromEntries(over.reasons),
    }
    if (over.isGrave) log.warn(facts)
    else log.info(facts)
  }

  function current(): Minute {
    const now = clock()
    if (minute !== undefined && now >= minute.endsAt) close()
    minute ??= {
      endsAt: now + minuteMs,
      lines: new Map(),
      written: 0,
      untold: 0,
      isGrave: false,
      clients: new Set(),
      reasons: new Map(),
    }
    return minute
  }

  function isTold({ lines, written }: Minute, client: string): boolean {
    return written < mostOfAll && (lines.get(client) ?? 0) < mostOfClient
  }

  function count(of: Minute, client: string, ending: Ending): void {
    of.untold += 1
    of.isGrave ||= 'code' in ending && (ending.fault !== undefined || isOurTrouble(ending.code))
    if (of.clients.size < mostCounted) of.clients.add(client)
    const reason = 'code' in ending ? codeToldOf(ending) : 'HANDSHAKE'
    of.reasons.set(reason, (of.reasons.get(reason) ?? 0) + 1)
    timer ??= timers.setTimeout(close, of.endsAt - clock())
  }

  return {
    logFor({ client }, ending) {
      if (ending.outcome !== 'refused' && ending.outcome !== 'handshake') return log
      const now = current()
      const key = clientKey(client)
      if (!isTold(now, key)) {
        count(now, key, ending)
        return quiet
      }
      now.written += 1
      now.lines.set(key, (now.lines.get(key) ?? 0) + 1)
      return log
    },
    close,
  }
}

/** Of a client that is told to wait nobody needs to know what it would have been refused for. */
function codeToldOf({ code, failure }: Extract<Ending, { code: unknown }>): string {
  return code === 'TOO_MANY_TRIES' ? code : (failure ?? code)
}
