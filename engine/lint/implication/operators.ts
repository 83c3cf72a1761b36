/** Owns when operator tests on one value make others on that value certain, and when they rule each other out. */

import type { OperatorTest } from '../../compile/match/body-pattern.ts'
import type { NumericBound } from '../../compile/match/numeric-bounds.ts'
import type { Scalar } from '../../compile/match/scalar.ts'
import { contains, holds, isEmpty, type NumericRange, rangeOf } from './numeric-range.ts'

/** Whether a single value, no list, passes the test. */
export function passes(value: Scalar, test: OperatorTest): boolean {
  switch (test.kind) {
    case 'exists':
      return test.wanted
    case 'prefix':
      return typeof value === 'string' && value.startsWith(test.text)
    case 'suffix':
      return typeof value === 'string' && value.endsWith(test.text)
    case 'anything-but':
      return !test.values.includes(value)
    case 'numeric':
      return typeof value === 'number' && holds(rangeOf(test.bounds), value)
    case 'pattern':
      return typeof value === 'string' && test.regex.test(value)
  }
}

/** Whether whatever passes all of the given tests passes the wanted one too. */
export function impliesTest(given: readonly OperatorTest[], wanted: OperatorTest): boolean {
  if (wanted.kind !== 'numeric') return given.some((test) => impliesAlone(test, wanted))
  const range = numbersOf(given)
  return range !== undefined && contains(rangeOf(wanted.bounds), range)
}

function impliesAlone(given: OperatorTest, wanted: Exclude<OperatorTest, { kind: 'numeric' }>): boolean {
  if (given.kind === 'exists' && !given.wanted) return wanted.kind === 'exists' && !wanted.wanted
  switch (wanted.kind) {
    case 'exists':
      // Every test but that for absence fails for an absent field.
      return wanted.wanted
    case 'prefix':
      return given.kind === 'prefix' && given.text.startsWith(wanted.text)
    case 'suffix':
      return given.kind === 'suffix' && given.text.endsWith(wanted.text)
    case 'pattern':
      return given.kind === 'pattern' && given.regex.source === wanted.regex.source
    case 'anything-but':
      return wanted.values.every((value) => excludes(given, value))
  }
}

/** Whether the test cannot hold for the value. */
function excludes(test: OperatorTest, value: Scalar): boolean {
  return test.kind !== 'exists' && !passes(value, test)
}

/** The numbers that pass; nothing where the tests do not ask for a number. */
function numbersOf(tests: readonly OperatorTest[]): NumericRange | undefined {
  const bounds = tests.flatMap((test): readonly NumericBound[] =>
    test.kind === 'numeric' ? test.bounds : [],
  )
  if (bounds.length === 0) return undefined
  const others = tests.flatMap((test) => (test.kind === 'anything-but' ? test.values : []))
  const taken = others.filter((value) => typeof value === 'number')
  return rangeOf([...bounds, ...taken.map((value) => ({ operator: '!=' as const, value }))])
}

/** Whether no value at all passes all of them. What a single operator gets wrong is refused at load. */
export function excludeEachOther(tests: readonly OperatorTest[]): boolean {
  const kinds = new Set(tests.map(({ kind }) => kind))
  const wantsText = kinds.has('prefix') || kinds.has('suffix') || kinds.has('pattern')
  if (wantsText && kinds.has('numeric')) return true
  const range = numbersOf(tests)
  return range !== undefined && isEmpty(range)
}
