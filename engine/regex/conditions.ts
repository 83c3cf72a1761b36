/** Owns which of `^`, `$` and `\b` hold between two characters, as the library's flags. */

export const beginOfText = 4
const beginOfLine = 1
const endOfLine = 2
const endOfText = 8
const wordBoundary = 16
const noWordBoundary = 32

export function conditionsAt(text: string, position: number): number {
  const before = position === 0 ? -1 : text.charCodeAt(position - 1)
  const after = position === text.length ? -1 : text.charCodeAt(position)
  let conditions = isWord(before) === isWord(after) ? noWordBoundary : wordBoundary
  if (before === -1) conditions |= beginOfText | beginOfLine
  if (before === 10) conditions |= beginOfLine
  if (after === -1) conditions |= endOfText | endOfLine
  if (after === 10) conditions |= endOfLine
  return conditions
}

/** Of ASCII only. */
function isWord(unit: number): boolean {
  return (
    (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90) || (unit >= 48 && unit <= 57) || unit === 95
  )
}
