/**
 * Tests values against patterns. The tree of a pattern is all there is: matching walks it for a verdict, and explaining
 * walks it for the deepest field that fails, so that the two cannot disagree.
 */

import { type Path, writePath } from '../../config/values/path.ts'
import { anyElement, memberOf } from '../../payload/payload-path.ts'
import type { Containment } from '../../resolve/model/containment.ts'
import { ClauseError, type Equality } from '../../resolve/model/program.ts'
import type { FailedClause } from '../../resolve/model/trace.ts'
import { asksForAbsence, type OperatorTest } from './operators.ts'
import type { Scalar } from './scalar.ts'
import { expectedOf, listed, maxNamed, wordsOfValues } from './words.ts'

/** If the payload holds a list, any of its elements may satisfy a pattern. */
export type Pattern =
  /** It equals one of them. */
  | { readonly kind: 'values'; readonly values: ReadonlySet<Scalar> }
  | { readonly kind: 'any'; readonly patterns: readonly Pattern[] }
  /** All of them must hold for the same value. */
  | { readonly kind: 'operators'; readonly tests: readonly OperatorTest[] }
  | KeysPattern

/** All keys must hold for the same object. They are in the order of testing, cheap ones first. */
export interface KeysPattern {
  readonly kind: 'keys'
  readonly keys: readonly (readonly [key: string, pattern: Pattern])[]
}

/** `undefined` is an absent field. @throws ClauseError, NeedsThread */
export function isMatch(pattern: Pattern, value: unknown, containment: Containment): boolean {
  if (pattern.kind === 'any') return pattern.patterns.some((each) => isMatch(each, value, containment))
  if (pattern.kind === 'operators' && pattern.tests.length === 1 && pattern.tests[0]?.name === 'exists')
    return (value !== undefined) === pattern.tests[0].operand
  return Array.isArray(value)
    ? anyElement(value, (element) => isMatchOfOne(pattern, element, containment))
    : isMatchOfOne(pattern, value, containment)
}

/** Of a value that is no list. Two elements of a list that satisfy one key each are no match. */
function isMatchOfOne(
  pattern: Exclude<Pattern, { kind: 'any' }>,
  value: unknown,
  containment: Containment,
): boolean {
  switch (pattern.kind) {
    case 'values':
      return pattern.values.has(value as Scalar)
    case 'operators':
      return value !== undefined && pattern.tests.every(({ holds }) => holds(value, containment))
    case 'keys':
      for (const [key, inner] of pattern.keys)
        if (!isMatch(inner, memberOf(value, key), containment)) return false
      return true
  }
}

/**
 * Returns why the value does not match: the deepest failing field, the expected value and the actual one. `path` is that
 * of the pattern from the mapping entry.
 */
export function missOf(
  pattern: Pattern,
  value: unknown,
  path: Path,
  containment: Containment,
): FailedClause | undefined {
  try {
    if (pattern.kind === 'keys')
      return Array.isArray(value)
        ? missInList(pattern, value, path, containment)
        : missInObject(pattern, value, path, containment)
    if (isMatch(pattern, value, containment)) return undefined
    return missOfNearest(pattern, value, path, containment) ?? missHere(pattern, value, path)
  } catch (error) {
    if (!(error instanceof ClauseError)) throw error
    return { ...missHere(pattern, value, path), error: error.message }
  }
}

export function missHere(pattern: Pattern, actual: unknown, path: Path): FailedClause {
  const expected = expectedOf(wordsOf(pattern), valuesIn(pattern), actual)
  return actual === undefined ? { path, ...expected } : { path, ...expected, actual }
}

/** Of a list of alternatives, because all of them beside a whole object would not help. */
function missOfNearest(
  pattern: Pattern,
  value: unknown,
  path: Path,
  containment: Containment,
): FailedClause | undefined {
  if (pattern.kind !== 'any' || typeof value !== 'object' || value === null) return undefined
  const [nearest] = alternativesOf(pattern)
    .map((each) => ({ each, failures: countFailures(each, value, containment) }))
    .toSorted((one, other) => one.failures - other.failures)
  const miss = nearest && missOf(nearest.each, value, path, containment)
  if (miss === undefined || miss.path === path) return undefined
  const count = pattern.patterns.reduce(
    (sum, each) => sum + (each.kind === 'values' ? each.values.size : 1),
    0,
  )
  return { ...miss, expected: `${miss.expected}, in the nearest of ${count} alternatives` }
}

function alternativesOf(pattern: Pattern): readonly Pattern[] {
  if (pattern.kind === 'any') return pattern.patterns.flatMap(alternativesOf)
  return pattern.kind === 'keys' ? [pattern] : []
}

/** Counts the fields that would have to change. @throws ClauseError */
export function countFailures(pattern: Pattern, value: unknown, containment: Containment): number {
  if (isMatch(pattern, value, containment)) return 0
  if (pattern.kind !== 'keys') return 1
  const failures = pattern.keys.map(([key, inner]) => {
    if (!Array.isArray(value)) return countFailures(inner, memberOf(value, key), containment)
    return Number(!anyElement(value, (each) => isMatch(inner, memberOf(each, key), containment)))
  })
  return Math.max(
    failures.reduce((sum, count) => sum + count, 0),
    1,
  )
}

function missInObject(
  pattern: KeysPattern,
  value: unknown,
  path: Path,
  containment: Containment,
): FailedClause | undefined {
  for (const [key, inner] of pattern.keys) {
    const below = [...path, key]
    const miss = missOf(inner, memberOf(value, key), below, containment)
    if (miss === undefined) continue
    // A value that is not an object says more than a missing field in it.
    if (value !== undefined && (typeof value !== 'object' || value === null))
      return missHere(pattern, value, path)
    return miss.path === below && !('actual' in miss) ? withOtherCase(miss, value, key) : miss
  }
  return undefined
}

/** If no element has the right value under a key, that key is reported, with the values of the elements. */
function missInList(
  pattern: KeysPattern,
  list: readonly unknown[],
  path: Path,
  containment: Containment,
): FailedClause | undefined {
  if (isMatch(pattern, list, containment)) return undefined
  for (const [key, inner] of pattern.keys) {
    if (anyElement(list, (element) => isMatch(inner, memberOf(element, key), containment))) continue
    const found: unknown[] = []
    anyElement(list, (element) => {
      const value = memberOf(element, key)
      if (value !== undefined) found.push(value)
      return false
    })
    const value = found.length === 1 ? found[0] : found
    const miss = found.length === 0 ? undefined : missOf(inner, value, [...path, key], containment)
    if (miss !== undefined) return miss
  }
  const miss = missHere(pattern, list, path)
  return list.length === 0 ? miss : { ...miss, expected: `${miss.expected}, in one element` }
}

/** The limit on keys that are searched for a name with a similar spelling. */
const keysSearched = 1_000

/** Mentions a key that differs from the wanted one in case only. Its name is the author's own text, not a sender's. */
function withOtherCase(miss: FailedClause, value: unknown, key: string): FailedClause {
  if (typeof value !== 'object') return miss
  let searched = 0
  const folded = key.toLowerCase()
  for (const other in value) {
    if (++searched > keysSearched) break
    if (other.length !== key.length || other === key || other.toLowerCase() !== folded) continue
    const expected = `${miss.expected} (there is ${writePath([other])}, in another case)`
    return { ...miss, expected, isNear: true }
  }
  return miss
}

function wordsOf(pattern: Pattern): string {
  switch (pattern.kind) {
    case 'values':
      return wordsOfValues([...pattern.values])
    case 'any': {
      const words = pattern.patterns.map(wordsOf)
      return words.slice(0, maxNamed).join(' or ') + (words.length > maxNamed ? ' or another' : '')
    }
    case 'operators':
      return pattern.tests.map(({ words }) => words()).join(' and ')
    case 'keys':
      return `an object with ${listed(pattern.keys.map(([key, inner]) => `${key}: ${wordsOf(inner)}`))}`
  }
}

/** Returns the values of which any would do. */
function valuesIn(pattern: Pattern): readonly Scalar[] {
  if (pattern.kind === 'values') return [...pattern.values]
  return pattern.kind === 'any' ? pattern.patterns.flatMap(valuesIn) : []
}

/**
 * Returns the equalities that a pattern requires, for the decision index. Each of them is necessary; together they need not
 * be sufficient, because of operators and because lists have elements.
 */
export function equalitiesOf(
  pattern: Pattern,
  part: Equality['part'],
  path: readonly string[],
): readonly Equality[] {
  if (pattern.kind === 'keys')
    return pattern.keys.flatMap(([key, inner]) => equalitiesOf(inner, part, [...path, key]))
  return isOfValues(pattern) ? [{ part, path, values: valuesIn(pattern) }] : []
}

function isOfValues(pattern: Pattern): boolean {
  return pattern.kind === 'values' || (pattern.kind === 'any' && pattern.patterns.every(isOfValues))
}

/** True if a value that is not there matches. */
export function allowsAbsence(pattern: Pattern): boolean {
  return pattern.kind === 'operators' && pattern.tests.some(asksForAbsence)
}
