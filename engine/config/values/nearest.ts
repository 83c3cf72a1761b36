/** Finds the known name that a misspelt one most likely means. */

/**
 * Returns the closest candidate, or undefined if none is close enough. A short name has to be closer: `foo` does not
 * mean `to`.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const lowerCaseName = name.toLowerCase()
  let best: string | undefined
  let bestDistance =
    lowerCaseName.length < 4
      ? Math.max(1, lowerCaseName.length - 1)
      : Math.min(4, Math.floor(lowerCaseName.length / 3) + 2)
  for (const candidate of candidates) {
    const distance = editDistance(lowerCaseName, candidate.toLowerCase(), bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Returns the hint for a misspelt name, or `otherwise` if no candidate is close enough. */
export function didYouMean(name: string, candidates: Iterable<string>): string | undefined
export function didYouMean(name: string, candidates: Iterable<string>, otherwise: string): string
export function didYouMean(
  name: string,
  candidates: Iterable<string>,
  otherwise?: string,
): string | undefined {
  const nearest = nearestName(name, candidates)
  return nearest === undefined ? otherwise : `Did you mean \`${nearest}\`?`
}

/** Counts insertions, deletions, replacements and swaps of neighbours. Returns `limit` if there are that many or more. */
export function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) >= limit) return limit
  const at = (row: readonly number[], column: number) => row[column] ?? Number.POSITIVE_INFINITY
  let before: number[] = []
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const [letter, other] = [left[row - 1], right[column - 1]]
      const isSwapped = letter === right[column - 2] && left[row - 2] === other
      const replaced = at(previous, column - 1) + (letter === other ? 0 : 1)
      const swapped = isSwapped ? at(before, column - 2) + 1 : replaced
      current.push(Math.min(at(previous, column) + 1, at(current, column - 1) + 1, replaced, swapped))
    }
    if (Math.min(...current) >= limit) return limit
    before = previous
    previous = current
  }
  return Math.min(limit, at(previous, right.length))
}
