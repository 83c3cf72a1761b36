/** Formats a clause that failed: what was expected above what was found. */

import type { ClauseTrace } from '@reveille/engine'
import { printable } from '../../observe/printable.ts'
import { hung } from '../print.ts'

/** A longer object or list that was found is cut, since its beginning says little. UTF-16 units. */
const maxWholeLength = 80

/** Returns lines without indentation, of at most so many columns where their words allow it. */
export function formatClause(
  { path, expected, actual, error }: ClauseTrace,
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const label = printable(path)
  const blank = ' '.repeat(label.length)
  const found = error === undefined ? shortened(actual ?? 'nothing') : `an error: ${error}`
  return [
    ...hung(printable(expected), `${label}  expected  `, columns),
    ...hung(printable(found), `${blank}  found     `, columns),
  ]
}

function shortened(actual: string): string {
  const isWhole = actual.startsWith('{') || actual.startsWith('[')
  return isWhole && actual.length > maxWholeLength ? `${actual.slice(0, maxWholeLength)}…` : actual
}
