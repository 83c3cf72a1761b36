/** Owns the one log line of a request: never a body, a token or a query string. */

import { TransformError } from '@reveille/engine'
import { statusOfEnding } from './entry.ts'
import { type Ending, type Exchange, reasonOf } from './exchange.ts'
import { describeFault } from './fault.ts'

/** The reason says all that it knows; its stack is of our own lines. */
function isToldWhole(fault: unknown): boolean {
  return fault instanceof TransformError && fault.cause === undefined
}

/** What the surface needs of a log; pino's has it. */
export interface HookLog {
  debug(facts: object): void
  info(facts: object): void
  warn(facts: object): void
  error(facts: object): void
}

/** `ms` is the time from the request's head to its answer, commit included. */
export function logEnding(log: HookLog, exchange: Exchange, ending: Ending, ms: number): void {
  const facts = {
    event: `request-${ending.outcome}`,
    requestId: exchange.requestId,
    endpoint: exchange.endpoint ?? '',
    outcome: ending.outcome,
    status: statusOfEnding(ending),
    mapping: ending.mapping,
    generation: exchange.live.generation,
    ms,
    client: exchange.client,
  }
  switch (ending.outcome) {
    case 'accepted':
      log.info({ ...facts, actions: ending.placed.map(({ id, action }) => ({ kind: action.kind, id })) })
      break
    case 'ignored':
    case 'skipped':
      log.info({ ...facts, reason: ending.reason })
      break
    default: {
      const told = { ...facts, code: ending.code, reason: reasonOf(ending) }
      if (ending.fault !== undefined && !isToldWhole(ending.fault))
        log.error({ ...told, err: describeFault(ending.fault) })
      else if (ending.outcome === 'failed') log.error(told)
      else log.info(told)
    }
  }
}
