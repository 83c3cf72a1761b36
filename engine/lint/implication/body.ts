/** Owns when one body pattern makes another certain, and which can never hold. */

import type { BodyPattern } from '../../compile/match/body-pattern.ts'
import type { Scalar } from '../../compile/match/scalar.ts'
import { onlyNumber, rangeOf } from './numeric-range.ts'
import { excludeEachOther, impliesTest, passes } from './operators.ts'

/** Whether a single value, no list and no object, satisfies the pattern. */
export function satisfies(value: Scalar, pattern: BodyPattern): boolean {
  switch (pattern.kind) {
    case 'equals':
      return value === pattern.value
    case 'any':
      return pattern.of.some((each) => satisfies(value, each))
    case 'operators':
      return pattern.tests.every((test) => passes(value, test))
    case 'keys':
      return false
  }
}

/**
 * Whether whatever satisfies the given pattern satisfies the wanted one too. It says no where it is not sure. Lists
 * need no thought of their own: the element that satisfies the given pattern satisfies the wanted one as well, because
 * nothing here joins two patterns that different elements could satisfy.
 */
export function implies(given: BodyPattern, wanted: BodyPattern): boolean {
  if (given.kind === 'any') return given.of.every((each) => implies(each, wanted))
  if (given.kind === 'equals') return satisfies(given.value, wanted)
  switch (wanted.kind) {
    case 'any':
      return wanted.of.some((each) => implies(given, each))
    case 'equals':
      return given.kind === 'operators' && isOnly(given, wanted.value)
    case 'operators':
      return given.kind === 'operators'
        ? wanted.tests.every((test) => impliesTest(given.tests, test))
        : wanted.tests.every((test) => test.kind === 'exists' && test.wanted) && needsPresence(given)
    case 'keys':
      return given.kind === 'keys' && impliesKeys(given, wanted)
  }
}

type Keys = Extract<BodyPattern, { kind: 'keys' }>
type Operators = Extract<BodyPattern, { kind: 'operators' }>

function impliesKeys(given: Keys, wanted: Keys): boolean {
  return [...wanted.keys].every(([key, pattern]) => {
    const own = given.keys.get(key)
    return own !== undefined && implies(own, pattern)
  })
}

/** `numeric: ['=', 5]` refuses all but one value. */
function isOnly({ tests }: Operators, value: Scalar): boolean {
  return tests.some((test) => test.kind === 'numeric' && onlyNumber(rangeOf(test.bounds)) === value)
}

/** Whether the pattern cannot hold for an absent field. */
function needsPresence(pattern: BodyPattern): boolean {
  switch (pattern.kind) {
    case 'equals':
      return true
    case 'any':
      return pattern.of.every(needsPresence)
    case 'operators':
      return pattern.tests.some((test) => test.kind !== 'exists' || test.wanted)
    case 'keys':
      return [...pattern.keys.values()].some(needsPresence)
  }
}

/** The path of a part that nothing can satisfy; nothing where every part can be. */
export function findImpossible(
  pattern: BodyPattern,
  path: readonly (string | number)[] = [],
): readonly (string | number)[] | undefined {
  switch (pattern.kind) {
    case 'equals':
      return undefined
    case 'any':
      return pattern.of.every((each) => findImpossible(each) !== undefined) ? path : undefined
    case 'operators':
      return excludeEachOther(pattern.tests) ? path : undefined
    case 'keys':
      for (const [key, each] of pattern.keys) {
        const found = findImpossible(each, [...path, key])
        if (found !== undefined) return found
      }
      return undefined
  }
}
