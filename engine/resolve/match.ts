/** Owns finding the first mapping, in order, that matches a request. */

import { type Candidate, ExpressionError } from './program.ts'
import type { Scope } from './scope.ts'
import { whenReady } from './when-ready.ts'

export type Found =
  | { readonly candidate: Candidate }
  /** How many were tried, and which conditions failed with an error rather than being false. */
  | { readonly candidate: undefined; readonly tried: number; readonly failures: readonly Failure[] }

export interface Failure {
  readonly mapping: string
  readonly error: ExpressionError
}

/** A promise only where a condition had to be waited for. */
export function firstMatch(candidates: readonly Candidate[], scope: Scope): Found | Promise<Found> {
  const failures: Failure[] = []

  function from(start: number): Found | Promise<Found> {
    for (let index = start; index < candidates.length; index++) {
      const candidate = candidates[index] as Candidate
      const verdict = candidate.program.matcher.matches(scope)
      if (verdict === true) return { candidate }
      if (verdict === false) continue
      return whenReady(verdict, (settled) => {
        if (settled === true) return { candidate }
        if (settled instanceof ExpressionError)
          failures.push({ mapping: candidate.program.id, error: settled })
        return from(index + 1)
      })
    }
    return { candidate: undefined, tried: candidates.length, failures }
  }

  return from(0)
}
