/** Repeats stored requests: they enter the pipeline after authentication, by a function call. */

import type { Id, RequestHead, RequestRecord } from '../store/port.ts'
import { type HookDependencies, receiveInternally } from './dependencies.ts'
import { reasonToKeep, statusOfOutcome } from './record/entry.ts'
import { searchOf } from './record/replayable-request.ts'
import type { ReplayTerms, RequestFacts, RequestOutcome } from './request-context.ts'

/** Repeats a stored request as a new one, without asking for a token or a signature. Never rejects. */
export type ReplayRequest = (asked: AskedReplay) => Promise<Replayed>

export interface AskedReplay {
  readonly record: RequestRecord & { readonly head: RequestHead }
  /** The body of the record, or what an operator made of it. It was decompressed when it came. */
  readonly body: Buffer
  readonly terms: ReplayTerms
  /** The id of the new request. With the id of one that is stored already nothing is changed. */
  readonly requestId: Id
}

export type Replayed = ReturnType<typeof replayedOf> & {
  /** False: the gateway could take no request at that moment, or this one no more, so that nothing was recorded. */
  readonly isRecorded: boolean
}

export function createReplay(dependencies: HookDependencies): ReplayRequest {
  return async ({ record, body, terms, requestId }) => {
    const { endpoint, head, client = '' } = record
    const headers = { ...head.headers } as RequestFacts['headers']
    const request = { headers, client, replay: terms, requestId, endpoint, query: searchOf(head.query) }
    const { facts, result, isRecorded } = await receiveInternally(dependencies, request, body)
    return { ...replayedOf(facts, result), isRecorded }
  }
}

/** The status is the one that a sender would have been answered. */
function replayedOf(facts: RequestFacts, result: RequestOutcome) {
  const { outcome, mapping } = result
  const actions = 'actions' in result ? result.actions : []
  const reason =
    result.outcome === 'duplicate' && !('code' in result) ? undefined : reasonToKeep(facts, result)
  return {
    outcome,
    status: statusOfOutcome(result),
    ...('code' in result && { code: result.code }),
    ...(reason !== undefined && { reason }),
    ...(mapping !== undefined && { mapping }),
    actions: actions.map(({ id, action: { kind }, disposition: became, originalRequest }) => ({
      kind,
      id,
      ...(became !== undefined && { became }),
      ...(originalRequest !== undefined && { duplicateOf: originalRequest }),
    })),
  }
}
