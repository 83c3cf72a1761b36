/** Owns finding the mappings, in order, that match a request. */

import { type Candidate, type Candidates, ClauseError, type Steps, type Verdict } from './program.ts'
import type { Scope } from './scope.ts'

/** After so many steps everything else has a turn: some 10 ms. */
const stepsOfTurn = 400_000
/** What the test of one mapping may cost: some 25 ms. */
const stepsOfMapping = 1_000_000
/** Failures that are kept; the reason of a decision is one line. */
const failuresTold = 10
/** An expression takes this long at least. */
const stepsOfWaiting = 1_000

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
  const scopeOf = scopesByParams(base)
  const failures: Failure[] = []
  const steps: Steps = { spent: 0, limit: 0 }
  let turnEnds = stepsOfTurn

  function next(): Found | Promise<Found> {
    for (;;) {
      if (steps.spent >= turnEnds) return takeTurn()
      const candidate = candidates.next()
      if (candidate === undefined) return { candidate, covering: candidates.covering, failures }
      const scope = scopeOf(candidate)
      steps.limit = steps.spent + stepsOfMapping
      const verdict = candidate.program.matcher.matches(scope, steps)
      if (verdict instanceof Promise) return waitFor(verdict, candidate, scope)
      if (isMatch(verdict, candidate)) return { candidate, scope }
    }
  }

  async function waitFor(verdict: Promise<Verdict>, candidate: Candidate, scope: Scope): Promise<Found> {
    steps.spent += stepsOfWaiting
    return isMatch(await verdict, candidate) ? { candidate, scope } : next()
  }

  async function takeTurn(): Promise<Found> {
    await new Promise(setImmediate)
    turnEnds = steps.spent + stepsOfTurn
    return next()
  }

  function isMatch(verdict: Verdict, { program }: Candidate): boolean {
    if (verdict instanceof ClauseError && failures.length < failuresTold)
      failures.push({ mapping: program.id, error: verdict })
    return verdict === true
  }

  return { next }
}

/** Mappings of one path share a scope, and so what was made for its first expression. */
function scopesByParams(base: Scope): (candidate: Candidate) => Scope {
  const known = new Map<Candidate['params'], Scope>([[base.params, base]])
  return ({ params }) => {
    let scope = known.get(params)
    if (scope === undefined) {
      scope = Object.keys(params).length === 0 ? base : { ...base, params, root: undefined }
      known.set(params, scope)
    }
    return scope
  }
}
