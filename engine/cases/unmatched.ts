/** Explains why the mapping that a test expects did not match. */

import type { Snapshot } from '../compile/snapshot.ts'
import type { Expectation } from '../config/configuration.ts'
import { nearestName } from '../config/values/nearest.ts'
import type { Decision, HookRequest } from '../resolve/model/decision.ts'
import type { CandidateTrace, ClauseTrace } from '../resolve/model/trace.ts'
import { expectedOutcome } from './check-expectation.ts'
import type { Observation } from './observation.ts'

export interface Unmatched {
  readonly mapping: string
  /** `file:line:column` of its entry; absent where there is no such mapping. */
  readonly place?: string
  /** Completes a sentence whose subject is the mapping: `comes after "x", which matched`. */
  readonly reason: string
  /** The first of its clauses that failed. */
  readonly clause?: ClauseTrace
}

/** Returns nothing where the test did not fail by what matched. */
export async function findUnmatched(
  expect: Expectation,
  observed: Observation,
  request: HookRequest,
  snapshot: Snapshot,
  decided: Decision,
): Promise<readonly Unmatched[]> {
  const missing = expectedMappings(expect).filter((id) => !observed.mapping?.split(', ').includes(id))
  const ignored = observed.outcome === 'ignored' && expectedOutcome(expect) !== 'ignored'
  if (missing.length === 0 && !ignored) return []
  const { candidates } = await snapshot.explain(request, { decided })
  if (missing.length > 0) return missing.map((id) => explainOne(id, candidates, request.endpoint, snapshot))
  // The actor is listed in `bots`, and the reason of the outcome says so.
  if (candidates.find(({ verdict }) => verdict !== 'disabled')?.verdict === 'not-reached') return []
  return [...candidates].sort((one, other) => depthOf(other) - depthOf(one)).map(explainCandidate)
}

function expectedMappings(expect: Expectation): string[] {
  const named = [expect.mapping, ...(expect.actions ?? []).map(({ mapping }) => mapping)]
  return [...new Set(named.filter((id) => typeof id === 'string'))]
}

function explainOne(
  id: string,
  candidates: readonly CandidateTrace[],
  endpoint: string,
  snapshot: Snapshot,
): Unmatched {
  const candidate = candidates.find(({ mapping }) => mapping === id)
  if (candidate?.verdict === 'not-reached') {
    const winner = candidates.find(({ verdict }) => verdict === 'matched')
    const reason = winner ? `comes after "${winner.mapping}", which matched` : 'was not asked'
    return { mapping: id, place: candidate.place, reason }
  }
  if (candidate !== undefined) return explainCandidate(candidate)
  const mapping = snapshot.mappings.find((each) => each.id === id)
  if (mapping !== undefined) {
    const reason = `is for the endpoint "${mapping.path}", and the request went to "${endpoint}"`
    return { mapping: id, place: mapping.place, reason }
  }
  const nearest = nearestName(
    id,
    snapshot.mappings.map((each) => each.id),
  )
  return {
    mapping: id,
    reason: `does not exist${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`,
  }
}

function explainCandidate({ mapping, place, verdict, clause }: CandidateTrace): Unmatched {
  if (verdict === 'disabled') return { mapping, place, reason: 'says `enabled: false`' }
  if (verdict === 'matched') return { mapping, place, reason: 'matched, but made no action' }
  return { mapping, place, reason: 'did not match', clause }
}

/** Clauses are tested in this order: the later one failed, the nearer the mapping came to matching. */
const clauseOrder = ['match.path', 'match.source', 'match.headers', 'match.body', 'match.when']

function depthOf({ clause }: CandidateTrace): number {
  return clauseOrder.findIndex((name) => clause?.path.startsWith(name))
}
