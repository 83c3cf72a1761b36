/**
 * Explains why a payload does not match a body pattern: the deepest failing field, the expected value and the actual
 * one.
 */

import { writePath } from '../../config/values/path.ts'
import type { Containment } from '../../resolve/containment.ts'
import type { FailedClause } from '../../resolve/explain/trace.ts'
import { ClauseError } from '../../resolve/program.ts'
import type { BodyPattern } from './body-pattern.ts'
import type { BodyTest } from './body-test.ts'
import type { Scalar } from './scalar.ts'
import { anyElement, fieldOf } from './walk.ts'
import { expectedOf, wordsOf } from './words.ts'

/** Returns undefined if the pattern matches. Tests in the same order as matching does. `undefined` is an absent field. */
export function missOfBody(
  test: BodyTest,
  value: unknown,
  containment: Containment,
): FailedClause | undefined {
  try {
    if (test.keys === undefined)
      return test.holds(value, containment) ? undefined : missOfLeaf(test, value, containment)
    return Array.isArray(value)
      ? missInList(test, test.keys, value, containment)
      : missInObject(test, test.keys, value, containment)
  } catch (error) {
    if (!(error instanceof ClauseError)) throw error
    return { ...missOf(test, value), error: error.message }
  }
}

type Keys = ReadonlyMap<string, BodyTest>

/**
 * Of a list of alternatives the one nearest to matching is reported, because all of them beside a whole object would
 * not help.
 */
function missOfLeaf(test: BodyTest, value: unknown, containment: Containment): FailedClause {
  if (typeof value !== 'object' || value === null) return missOf(test, value)
  let nearest: BodyTest | undefined
  let fewest = Number.POSITIVE_INFINITY
  for (const alternative of test.alternatives) {
    const failures = failuresOf(alternative, value, containment)
    if (failures >= fewest) continue
    nearest = alternative
    fewest = failures
  }
  const miss = nearest && missOfBody(nearest, value, containment)
  if (miss === undefined || miss.path === nearest?.path) return missOf(test, value)
  const { length } = test.pattern.kind === 'any' ? test.pattern.of : []
  return { ...miss, expected: `${miss.expected}, in the nearest of ${length} alternatives` }
}

/** Counts the fields that would have to change. @throws ClauseError */
export function failuresOf(test: BodyTest, value: unknown, containment: Containment): number {
  if (test.holds(value, containment)) return 0
  if (test.keys === undefined) return 1
  const elements = Array.isArray(value) ? value : undefined
  let failures = 0
  for (const [key, inner] of test.keys) {
    if (elements === undefined) failures += failuresOf(inner, fieldOf(value, key), containment)
    else if (!anyElement(elements, (each) => inner.holds(fieldOf(each, key), containment))) failures++
  }
  return Math.max(failures, 1)
}

function missInObject(
  test: BodyTest,
  keys: Keys,
  value: unknown,
  containment: Containment,
): FailedClause | undefined {
  for (const [key, inner] of keys) {
    const miss = missOfBody(inner, fieldOf(value, key), containment)
    if (miss === undefined) continue
    // A value that is not an object says more than a missing field in it.
    const isOther = value !== undefined && (typeof value !== 'object' || value === null)
    return isOther ? missOf(test, value) : withOtherCase(miss, inner, value, key)
  }
  return undefined
}

/** If no element has the right value under a key, that key is reported, with the values of the elements. */
function missInList(
  test: BodyTest,
  keys: Keys,
  list: readonly unknown[],
  containment: Containment,
): FailedClause | undefined {
  if (test.holds(list, containment)) return undefined
  for (const [key, inner] of keys) {
    if (anyElement(list, (element) => inner.holds(fieldOf(element, key), containment))) continue
    const found = valuesUnder(key, list)
    if (found.length === 0) continue
    const miss = missOfBody(inner, found.length === 1 ? found[0] : found, containment)
    if (miss !== undefined) return miss
  }
  const miss = missOf(test, list)
  return list.length === 0 ? miss : { ...miss, expected: `${miss.expected}, in one element` }
}

function valuesUnder(key: string, list: readonly unknown[]): unknown[] {
  const found: unknown[] = []
  const take = (element: unknown): boolean => {
    const value = fieldOf(element, key)
    if (value !== undefined) found.push(value)
    return false
  }
  anyElement(list, take)
  return found
}

function missOf({ path, pattern }: BodyTest, actual: unknown): FailedClause {
  const expected = expectedOf(wordsOf(pattern), scalarsOf(pattern), actual)
  return actual === undefined ? { path, ...expected } : { path, ...expected, actual }
}

function scalarsOf(pattern: BodyPattern): readonly Scalar[] {
  if (pattern.kind === 'equals') return [pattern.value]
  return pattern.kind === 'any' ? pattern.of.flatMap(scalarsOf) : []
}

/** The limit on keys that are searched for a name with a similar spelling. */
const keysSearched = 1_000

/** Mentions a key that differs from the wanted one in case only. Its name is the author's own text, not a stranger's. */
function withOtherCase(miss: FailedClause, inner: BodyTest, value: unknown, key: string): FailedClause {
  if (miss.path !== inner.path || 'actual' in miss || typeof value !== 'object' || value === null) return miss
  let searched = 0
  const folded = key.toLowerCase()
  for (const other in value) {
    if (++searched > keysSearched) break
    if (other.length === key.length && other !== key && other.toLowerCase() === folded)
      return {
        ...miss,
        expected: `${miss.expected} (there is ${writePath([other])}, in another case)`,
        isNear: true,
      }
  }
  return miss
}
