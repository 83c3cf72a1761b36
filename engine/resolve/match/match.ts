/** Finds the mappings, in order, that match a request. */

import { type Candidate, type Candidates, ClauseError, type Verdict } from '../program.ts'
import type { Scope } from '../scope.ts'

/** Failures that are kept; the reason of a decision is one line. */
const mostFailures = 10

export type MatchResult =
  /** `scope` has what the mapping's path took from the endpoint's name. */
  | { readonly candidate: Candidate; readonly scope: Scope }
  /** How many mappings cover the endpoint, and the first clauses that failed with an error rather than being false. */
  | { readonly candidate: undefined; readonly covering: number; readonly failures: readonly MatchFailure[] }

export interface MatchFailure {
  readonly mapping: string
  readonly error: ClauseError
}

/** The way through a request's candidates: each call goes on behind the mapping that the last one found. */
export interface Search {
  readonly next: () => Promise<MatchResult>
}

export function createSearch(candidates: Candidates, base: Scope): Search {
  const failures: MatchFailure[] = []
  let { params } = base
  let scope = base

  /** Most mappings take the same from the endpoint's name: nothing. */
  function scopeOf(candidate: Candidate): Scope {
    if (candidate.params !== params) {
      params = candidate.params
      scope = { ...base, params }
    }
    return scope
  }

  async function next(): Promise<MatchResult> {
    for (let candidate = candidates.next(); candidate !== undefined; candidate = candidates.next()) {
      base.containment.checkTime()
      const own = scopeOf(candidate)
      const answer = candidate.program.matcher.matches(own)
      // A thousand mappings may be asked for one request: only what must be waited for is awaited.
      const verdict = answer instanceof Promise ? await answer : answer
      if (isMatch(verdict, candidate)) return { candidate, scope: own }
    }
    return { candidate: undefined, covering: candidates.covering, failures }
  }

  function isMatch(verdict: Verdict, { program }: Candidate): boolean {
    if (verdict instanceof ClauseError && failures.length < mostFailures)
      failures.push({ mapping: program.id, error: verdict })
    return verdict === true
  }

  return { next }
}
