/** Finds the mappings, in order, that match a request. */

import { type Candidate, type Candidates, ClauseError, type Verdict } from '../model/program.ts'
import type { Scope } from '../model/scope.ts'

/** The number of failures that are kept, because the reason of a decision is one line. */
const maxFailures = 10

export type MatchResult =
  /** `scope` has the values that the mapping's path took from the endpoint's name. */
  | { readonly candidate: Candidate; readonly scope: Scope }
  /**
   * `covering` is the number of mappings for the endpoint. The failures are the first clauses that failed with an error
   * rather than being false.
   */
  | { readonly candidate: undefined; readonly covering: number; readonly failures: readonly MatchFailure[] }

export interface MatchFailure {
  readonly mapping: string
  readonly error: ClauseError
}

/** Iterates over a request's candidates. Each call continues after the mapping that the last one found. */
export interface Search {
  readonly next: () => Promise<MatchResult>
}

export function createSearch(candidates: Candidates, base: Scope): Search {
  const failures: MatchFailure[] = []
  let { params } = base
  let scope = base

  /** Most mappings have no path parameters, so they share one scope. */
  function scopeOf(candidate: Candidate): Scope {
    if (candidate.params !== params) {
      params = candidate.params
      scope = { ...base, params }
    }
    return scope
  }

  async function next(): Promise<MatchResult> {
    for (let candidate = candidates.next(); candidate !== undefined; candidate = candidates.next()) {
      base.containment.checkTime(base.request.rawBody.length)
      const own = scopeOf(candidate)
      const answer = candidate.program.matcher.matches(own)
      // A thousand mappings may be tried for one request, so only promises are awaited.
      const verdict = answer instanceof Promise ? await answer : answer
      if (isMatch(verdict, candidate)) return { candidate, scope: own }
    }
    return { candidate: undefined, covering: candidates.covering, failures }
  }

  function isMatch(verdict: Verdict, { program }: Candidate): boolean {
    if (verdict instanceof ClauseError && failures.length < maxFailures)
      failures.push({ mapping: program.id, error: verdict })
    return verdict === true
  }

  return { next }
}
