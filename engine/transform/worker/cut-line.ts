/** Owns how much of a line a place carries: generated code has lines of a megabyte. */

const shown = 400
const before = 100

/** The text, and the column within it where that is another one. */
export function cutLine(text: string, column: number): { text: string; caret?: number } {
  if (text.length <= shown) return { text }
  const from = Math.max(0, column - before)
  return { text: text.slice(from, from + shown), ...(from > 0 && { caret: column - from }) }
}
