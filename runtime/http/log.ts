/** Owns the one log line of a request: never a body, a token or a query string. */

import { TransformError } from '@reveille/engine'
import { cut } from '../cut.ts'
import { statusOfEnding } from './entry.ts'
import type { ErrorCode } from './errors.ts'
import { type Ending, type Exchange, type Placed, reasonOf } from './exchange.ts'
import { describeFault } from './fault.ts'
import type { WaitEnd } from './reply/outcome-waits.ts'

/** The reason says all that it knows; its stack is of our own lines. */
function isToldWhole(fault: unknown): boolean {
  return fault instanceof TransformError && fault.cause === undefined
}

/** Of an endpoint, in UTF-16 units: a stranger may make up one that is as long as an address may be. */
const longestName = 200

const ours: ReadonlySet<ErrorCode> = new Set([
  'VERIFIER_UNAVAILABLE',
  'HANDSHAKE_UNAVAILABLE',
  'RECEIVER_FAILED',
])

/** A sender is refused for what it cannot help, and what the operator may have to mend. */
export function isOurTrouble(code: ErrorCode): boolean {
  return ours.has(code)
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
    endpoint: cut(exchange.endpoint ?? '', longestName),
    outcome: ending.outcome,
    status: statusOfEnding(ending),
    mapping: ending.mapping,
    generation: exchange.live.generation,
    ms,
    client: exchange.client,
  }
  if ('placed' in ending) log.info({ ...facts, actions: ending.placed.map(toldOf) })
  else if (ending.outcome === 'handshake') log.info({ ...facts, reason: ending.handshake.reason })
  else if (!('code' in ending)) log.info({ ...facts, reason: ending.reason })
  else {
    const { code, failure } = ending
    const told = { ...facts, code, failure, reason: reasonOf(ending) }
    if (ending.fault !== undefined && !isToldWhole(ending.fault))
      log.error({ ...told, err: describeFault(ending.fault) })
    else if (code === 'TRANSFORM_REFUSED') log.info(told)
    else if (ending.outcome === 'failed') log.error(told)
    else if (isOurTrouble(code)) log.warn(told)
    else log.info(told)
  }
}

function toldOf({ id, action: { kind }, became, request }: Placed) {
  if (became === undefined) return { kind, id }
  return request === undefined ? { kind, id, became } : { kind, id, became, request }
}

/** A sender that waited has its answer; `ms` is the time since the request's head. */
export function logOutcome(log: HookLog, exchange: Exchange, end: WaitEnd, ms: number): void {
  const { requestId, endpoint } = exchange
  const run = end.kind === 'over' ? { runId: end.run.id, state: end.run.state } : {}
  log.debug({ event: 'outcome-awaited', requestId, endpoint, end: end.kind, ...run, ms })
}
