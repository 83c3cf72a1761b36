/** Owns finding the first mapping, in order, that matches a request. */

import { ExpressionError, type Program } from './program.ts'
import type { Scope } from './scope.ts'
import { whenReady } from './when-ready.ts'

export type Found =
  | { readonly program: Program }
  /** How many were tried, and which conditions failed with an error rather than being false. */
  | { readonly program: undefined; readonly tried: number; readonly failures: readonly Failure[] }

export interface Failure {
  readonly mapping: string
  readonly error: ExpressionError
}

/** A promise only where a condition had to be waited for. */
export function firstMatch(candidates: readonly Program[], scope: Scope): Found | Promise<Found> {
  const failures: Failure[] = []

  function from(start: number): Found | Promise<Found> {
    for (let index = start; index < candidates.length; index++) {
      const program = candidates[index] as Program
      const verdict = program.matches(scope)
      if (verdict === true) return { program }
      if (verdict === false) continue
      return whenReady(verdict, (settled) => {
        if (settled === true) return { program }
        if (settled instanceof ExpressionError) failures.push({ mapping: program.id, error: settled })
        return from(index + 1)
      })
    }
    return { program: undefined, tried: candidates.length, failures }
  }

  return from(0)
}
