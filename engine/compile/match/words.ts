/** Describes in words what a clause expects. The words end a sentence that begins with "expected". */

import type { FailedClause } from '../../resolve/explain/trace.ts'
import type { BodyPattern } from './body-pattern.ts'
import type { OperatorTest } from './operators.ts'
import type { Scalar } from './scalar.ts'

/** The number of members of a list or a map that are named. */
const maxNamed = 10

export function wordsOf(pattern: BodyPattern): string {
  switch (pattern.kind) {
    case 'equals':
      return quoted(pattern.value)
    case 'any':
      return wordsOfAny(pattern.of)
    case 'operators':
      return pattern.tests.map(wordsOfOperator).join(' and ')
    case 'keys':
      return `an object with ${listed(Array.from(pattern.keys, ([key, inner]) => `${key}: ${wordsOf(inner)}`))}`
  }
}

/** Returns `"opened"`, or `one of "opened", "reopened"`. */
export function wordsOfValues(values: readonly Scalar[]): string {
  const words = listed(values.map(quoted))
  return values.length === 1 ? words : `one of ${words}`
}

/** Returns `/^v[0-9]+$/`. */
export function wordsOfSearch(source: string): string {
  return `text matching /${source}/`
}

export const presentWords = 'the field to be there'
export const absentWords = 'no such field'

/** Returns what was expected, with an explanation if the value is nearly a wanted one. */
export function expectedOf(
  words: string,
  wanted: readonly Scalar[],
  actual: unknown,
): Pick<FailedClause, 'expected' | 'isNear'> {
  const note = nearMiss(wanted, actual)
  if (note === undefined) return { expected: words }
  return { expected: `${words}${note.startsWith('(') ? ' ' : ', '}${note}`, isNear: true }
}

function nearMiss(wanted: readonly Scalar[], actual: unknown): string | undefined {
  const found = Array.isArray(actual) ? actual.slice(0, 100) : [actual]
  for (const value of wanted) {
    for (const each of found) {
      const note = nearMissOfOne(value, each)
      if (note !== undefined) return note
    }
  }
  return undefined
}

function nearMissOfOne(wanted: Scalar, actual: unknown): string | undefined {
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

function wordsOfAny(patterns: readonly BodyPattern[]): string {
  const values = patterns.flatMap((pattern) => (pattern.kind === 'equals' ? [pattern.value] : []))
  const others = patterns.filter(({ kind }) => kind !== 'equals').map(wordsOf)
  const words = values.length > 0 ? [wordsOfValues(values), ...others] : others
  return words.slice(0, maxNamed).join(' or ') + (words.length > maxNamed ? ' or another' : '')
}

function wordsOfOperator(operator: OperatorTest): string {
  switch (operator.kind) {
    case 'exists':
      return operator.wanted ? presentWords : absentWords
    case 'prefix':
      return `text that begins with ${quoted(operator.text)}`
    case 'suffix':
      return `text that ends with ${quoted(operator.text)}`
    case 'anything-but':
      return operator.values.length === 1
        ? `anything but ${quoted(operator.values[0] as Scalar)}`
        : `anything but ${listed(operator.values.map(quoted))}`
    case 'numeric':
      return `a number ${operator.bounds.map((bound) => `${bound.operator} ${bound.value}`).join(' and ')}`
    case 'pattern':
      return wordsOfSearch(operator.regex.source)
  }
}

function listed(words: readonly string[]): string {
  const rest = words.length - maxNamed
  return rest > 0 ? `${words.slice(0, maxNamed).join(', ')} or ${rest} more` : words.join(', ')
}

function quoted(value: Scalar): string {
  return JSON.stringify(value)
}
