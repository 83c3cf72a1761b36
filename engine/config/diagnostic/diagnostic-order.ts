/** Owns the order in which diagnostics are told. */

import type { Diagnostic } from './diagnostic.ts'

/** Files stay in the order in which they were first mentioned; within one, from top to bottom. */
export function inFileOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const rank = new Map<string | undefined, number>()
  for (const { place } of diagnostics) if (!rank.has(place?.file)) rank.set(place?.file, rank.size)
  const rankOf = ({ place }: Diagnostic) => rank.get(place?.file) ?? 0
  return diagnostics.toSorted(
    (one, other) =>
      rankOf(one) - rankOf(other) ||
      (one.place?.line ?? 0) - (other.place?.line ?? 0) ||
      (one.place?.column ?? 0) - (other.place?.column ?? 0),
  )
}
