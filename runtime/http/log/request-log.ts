/** Writes the one log line of a request, which never holds a body, a token or a query string. */

import { TransformError } from '@reveille/engine'
import { cut } from '../../cut.ts'
import type { ErrorCode } from '../errors.ts'
import { statusOfOutcome } from '../record/entry.ts'
import type { WaitEnd } from '../reply/outcome-waits.ts'
import {
  type PersistedAction,
  type RequestContext,
  type RequestFacts,
  type RequestOutcome,
  reasonOf,
} from '../request-context.ts'
import { describeFault } from './fault.ts'

/** The part of a log that the hook surface uses; pino has it. */
export interface HookLog {
  debug(facts: object): void
  info(facts: object): void
  warn(facts: object): void
  error(facts: object): void
}

/** Maximum length of an endpoint's name in a line, in UTF-16 units: an unauthenticated client chooses it freely. */
const maxNameLength = 200

/** The sender can do nothing about these refusals; the operator may have something to fix. */
const operatorProblems: ReadonlySet<ErrorCode> = new Set(['VERIFIER_UNAVAILABLE', 'HANDSHAKE_UNAVAILABLE'])

export function isOperatorProblem(code: ErrorCode): boolean {
  return operatorProblems.has(code)
}

/** `ms` is the time from the head of the request to its reply, commit included. */
export function logRequest(log: HookLog, context: RequestFacts, result: RequestOutcome, ms: number): void {
  const facts = {
    event: `request-${result.outcome}`,
    requestId: context.requestId,
    endpoint: cut(context.endpoint ?? '', maxNameLength),
    outcome: result.outcome,
    status: statusOfOutcome(result),
    mapping: result.mapping,
    generation: context.live.generation,
    ms,
    client: context.client,
    ...(context.replay && { replayOf: context.replay.original }),
  }
  if ('actions' in result) log.info({ ...facts, actions: result.actions.map(actionFacts) })
  else if (result.outcome === 'handshake') log.info({ ...facts, reason: result.handshake.reason })
  else if (!('code' in result)) log.info({ ...facts, reason: result.reason })
  else {
    const { code, failure, fault } = result
    const line = { ...facts, code, failure, reason: reasonOf(result) }
    if (fault !== undefined && !isExplainedByReason(fault)) log.error({ ...line, err: describeFault(fault) })
    else if (code === 'TRANSFORM_REFUSED') log.info(line)
    else if (result.outcome === 'failed') log.error(line)
    else if (isOperatorProblem(code)) log.warn(line)
    else log.info(line)
  }
}

/** The reason says everything about a failed transform; its stack would only show frames of the gateway. */
function isExplainedByReason(fault: unknown): boolean {
  return fault instanceof TransformError && fault.cause === undefined
}

function actionFacts({
  id,
  action: { kind },
  disposition: became,
  originalRequest: request,
}: PersistedAction) {
  if (became === undefined) return { kind, id }
  return request === undefined ? { kind, id, became } : { kind, id, became, request }
}

/** Logs that a sender which waited for the outcome of its run has its reply; `ms` is the time since the request's head. */
export function logOutcome(log: HookLog, context: RequestContext, end: WaitEnd, ms: number): void {
  const { requestId, endpoint } = context
  const run = end.kind === 'over' ? { runId: end.run.id, state: end.run.state } : {}
  log.debug({ event: 'outcome-awaited', requestId, endpoint, end: end.kind, ...run, ms })
}
