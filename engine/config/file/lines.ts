/** Owns the lines of a text: where each begins, and how far it is indented. */

export interface Lines {
  /** Where each line begins, in UTF-16 units; at least one. */
  readonly starts: readonly number[]
  /** Spaces at the beginning of each line; -1 where nothing but a comment follows, or nothing at all. */
  readonly indents: readonly number[]
  /** Whether a tab stands among the indentation of any line. */
  readonly hasTabs: boolean
}

/** Lines between two steps: about a millisecond. */
export const linesAtOnce = 2000

export function* scanLines(text: string): Generator<void, Lines> {
  const starts: number[] = []
  const indents: number[] = []
  let hasTabs = false
  for (let start = 0; start >= 0; ) {
    if (starts.length % linesAtOnce === 0) yield
    let at = start
    while (text[at] === ' ') at++
    const first = text[at]
    const isBare = first === undefined || first === '\n' || first === '\r' || first === '#'
    if (first === '\t') hasTabs = true
    starts.push(start)
    indents.push(isBare ? -1 : at - start)
    const end = text.indexOf('\n', at)
    start = end < 0 ? -1 : end + 1
  }
  return { starts, indents, hasTabs }
}

/** Counted from 1; the place behind the last line break is on a line of its own. */
export function lineAt({ starts }: Lines, offset: number): { line: number; column: number } {
  let low = 0
  let high = starts.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
}
