/** Formats a clause that failed: what was expected above what was found. */

import type { ClauseTrace } from '@reveille/engine'
import { printable } from '../../observe/printable.ts'

/** A longer object or list that was found is cut, since its beginning says little. UTF-16 units. */
const maxWholeLength = 80

/** Returns lines without indentation. */
export function formatClause({ path, expected, actual, error }: ClauseTrace): string[] {
  const label = printable(path)
  const blank = ' '.repeat(label.length)
  const found = error === undefined ? shortened(actual ?? 'nothing') : `an error: ${error}`
  return [`${label}  expected  ${printable(expected)}`, `${blank}  found     ${printable(found)}`]
}

function shortened(actual: string): string {
  const isWhole = actual.startsWith('{') || actual.startsWith('[')
  return isWhole && actual.length > maxWholeLength ? `${actual.slice(0, maxWholeLength)}…` : actual
}
