/** Owns finding the mappings, in order, that match a request. */

import { type Candidate, type Candidates, ClauseError, type Verdict } from './program.ts'
import type { Scope } from './scope.ts'
import { createStepCounter } from './steps.ts'

/** Failures that are kept; the reason of a decision is one line. */
const failuresTold = 10

export type Found =
  /** `scope` has what the mapping's path took from the endpoint's name. */
  | { readonly candidate: Candidate; readonly scope: Scope }
  /** How many mappings cover the endpoint, and the first clauses that failed with an error rather than being false. */
  | { readonly candidate: undefined; readonly covering: number; readonly failures: readonly Failure[] }

export interface Failure {
  readonly mapping: string
  readonly error: ClauseError
}

/** The way through a request's candidates; it goes on behind what it found last. */
export interface Search {
  /** A promise only where a condition had to be waited for, or where everything else had to have a turn. */
  readonly next: () => Found | Promise<Found>
}

export function createSearch(candidates: Candidates, base: Scope): Search {
  const steps = createStepCounter(candidates.spent)
  const failures: Failure[] = []
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

  function next(): Found | Promise<Found> {
    for (;;) {
      const rest = steps.rest()
      if (rest !== undefined) return rest.then(next)
      const candidate = candidates.next()
      if (candidate === undefined) return { candidate, covering: candidates.covering, failures }
      const scope = scopeOf(candidate)
      const verdict = candidate.program.matcher.matches(scope, steps.begin())
      if (verdict instanceof Promise) return waitFor(verdict, candidate, scope)
      if (isMatch(verdict, candidate)) return { candidate, scope }
    }
  }

  async function waitFor(verdict: Promise<Verdict>, candidate: Candidate, scope: Scope): Promise<Found> {
    return isMatch(await verdict, candidate) ? { candidate, scope } : next()
  }

  function isMatch(verdict: Verdict, { program }: Candidate): boolean {
    if (verdict instanceof ClauseError && failures.length < failuresTold)
      failures.push({ mapping: program.id, error: verdict })
    return verdict === true
  }

  return { next }
}
