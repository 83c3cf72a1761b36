/** Owns the guess which known name a misspelt one was meant to be. */

/** Insertions, deletions and replacements may be this many, and a third of the name at most. */
const furthest = 3

export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const limit = Math.min(furthest, Math.ceil(name.length / 3))
  const near = [...known]
    .map((candidate) => ({ candidate, distance: distanceOf(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
  near.sort((left, right) => left.distance - right.distance)
  return near[0]?.candidate
}

function distanceOf(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1]
    for (const [column, other] of [...right].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
