/** Describes a request to observers. */

import type { ObservedRequest, Period } from '@reveille/kit'
import { contextOf } from '../../trace-context.ts'
import type { RequestContext, RequestFacts, RequestOutcome } from '../request-context.ts'
import { statusOfOutcome, traceparentOf } from './entry.ts'

/** `ms` is the time from the head of the request to its reply. */
export function observedRequest(facts: RequestFacts, result: RequestOutcome, ms: number): ObservedRequest {
  const { requestId: id, live, endpoint, receivedAt, timings, client } = facts
  const { read = 0, resolve } = timings
  const { snapshot } = live
  const parent = traceparentOf(facts)
  const period = (from: number, until: number): Period => ({
    startedAt: receivedAt + from,
    endedAt: receivedAt + until,
  })
  const isCommitted = result.outcome === 'accepted' || result.outcome === 'duplicate'
  const method = (facts as Partial<RequestContext>).incoming?.method
  return {
    kind: 'request',
    id,
    traceparent: contextOf(id, parent),
    ...(parent && { parent }),
    ...(method && { method }),
    // Unauthenticated clients make up names of endpoints.
    ...(endpoint !== undefined &&
      snapshot.covers(endpoint) && { route: `${snapshot.settings.hooks.path}/${endpoint}` }),
    ...('mapping' in result && result.mapping && { mapping: result.mapping }),
    client,
    outcome: result.outcome,
    status: statusOfOutcome(result),
    ...('code' in result && { code: result.code }),
    ...period(0, ms),
    ...(resolve !== undefined && { decision: period(read, resolve) }),
    ...(resolve !== undefined && isCommitted && { commit: period(resolve, ms) }),
  }
}
