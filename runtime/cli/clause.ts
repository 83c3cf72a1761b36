/** Owns how a clause that failed is set: what was expected above what was found. */

import type { ClauseTrace } from '@reveille/engine'
import { printable } from '../observe/printable.ts'

/** Lines without indentation. */
export function formatClause({ path, expected, actual, error }: ClauseTrace): string[] {
  const label = printable(path)
  const blank = ' '.repeat(label.length)
  const found = error === undefined ? (actual ?? 'nothing') : `an error: ${error}`
  return [`${label}  expected  ${printable(expected)}`, `${blank}  found     ${printable(found)}`]
}
