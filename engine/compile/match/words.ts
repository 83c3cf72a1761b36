/** Describes in words what a clause expects. The words end a sentence that begins with "expected". */

import type { FailedClause } from '../../resolve/model/trace.ts'
import type { Scalar } from './scalar.ts'

/** The number of members of a list or a map that are named. */
export const maxNamed = 10

/** Returns `"opened"`, or `one of "opened", "reopened"`. */
export function wordsOfValues(values: readonly Scalar[]): string {
  const words = listed(values.map(quoted))
  return values.length === 1 ? words : `one of ${words}`
}

export function listed(words: readonly string[]): string {
  const rest = words.length - maxNamed
  return rest > 0 ? `${words.slice(0, maxNamed).join(', ')} or ${rest} more` : words.join(', ')
}

export function quoted(value: Scalar): string {
  return JSON.stringify(value)
}

/** Returns what was expected, with an explanation if the value is nearly a wanted one. */
export function expectedOf(
  words: string,
  wanted: Iterable<Scalar>,
  actual: unknown,
): Pick<FailedClause, 'expected' | 'isNear'> {
  const values = Array.isArray(actual) ? actual.slice(0, 100) : [actual]
  for (const value of wanted) {
    for (const each of values) {
      const note = nearMiss(value, each)
      if (note === undefined) continue
      return { expected: `${words}${note.startsWith('(') ? ' ' : ', '}${note}`, isNear: true }
    }
  }
  return { expected: words }
}

function nearMiss(wanted: Scalar, actual: unknown): string | undefined {
  if (typeof actual === 'object' || String(wanted) === '') return undefined
  if (typeof wanted !== typeof actual) {
    if (String(wanted) !== String(actual)) return undefined
    return typeof wanted === 'string'
      ? `as text, not as a ${typeof actual}`
      : `as a ${typeof wanted}, not as text`
  }
  if (typeof wanted !== 'string' || typeof actual !== 'string') return undefined
  // A text of a megabyte is no near miss, and comparing it would take long.
  if (actual.length > wanted.length + 100) return undefined
  if (actual.trim() === wanted) return 'without space around it'
  return actual.toLowerCase() === wanted.toLowerCase() ? '(case-sensitive)' : undefined
}
