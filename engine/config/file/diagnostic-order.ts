/** Orders diagnostics for a report. */

import type { Diagnostic } from './diagnostic.ts'

/** Sorts from top to bottom within a file. `files` is the order of the files. Default: the order of their first mention. */
export function inFileOrder(
  diagnostics: readonly Diagnostic[],
  files: readonly (string | undefined)[] = diagnostics.map(({ place }) => place?.file),
): Diagnostic[] {
  const rank = new Map<string | undefined, number>()
  for (const file of files) if (!rank.has(file)) rank.set(file, rank.size)
  const rankOf = ({ place }: Diagnostic) => rank.get(place?.file) ?? 0
  return diagnostics.toSorted(
    (one, other) =>
      rankOf(one) - rankOf(other) ||
      (one.place?.line ?? 0) - (other.place?.line ?? 0) ||
      (one.place?.column ?? 0) - (other.place?.column ?? 0),
  )
}
