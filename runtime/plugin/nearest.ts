/** Owns the guess at what a misspelt name was meant to be. */

/** The known name with the fewest edits, if that is at most a third of the name's length, and at least one. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let fewest = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    const edits = distance(name.toLowerCase(), candidate.toLowerCase())
    if (edits < fewest) {
      best = candidate
      fewest = edits
    }
  }
  return best
}

/** Optimal string alignment: a swap of two neighbours is one edit, like any other slip of the finger. */
function distance(left: string, right: string): number {
  let before: number[] = []
  let above = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1]
      let edits = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (isSame ? 0 : 1),
      )
      if (row > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        edits = Math.min(edits, (before[column - 2] ?? 0) + 1)
      }
      current.push(edits)
    }
    before = above
    above = current
  }
  return above[right.length] ?? 0
}
