/** Owns testing a payload against a body pattern: the tree of tests as closures, with the place of each. */

import { type Path, writePath } from '../../config/path.ts'
import { longestSubject, RegexLimitError } from '../../regex/regex.ts'
import { ClauseError, type Steps } from '../../resolve/program.ts'
import type { BodyPattern, OperatorTest } from './body-pattern.ts'
import { isWithin } from './numeric-bounds.ts'
import type { Scalar } from './scalar.ts'
import { anyElement, fieldOf, spend, stepsOfField } from './walk.ts'

/** Of one value; `undefined` is an absent field. @throws StepLimitError, ClauseError */
type Holds = (value: unknown, steps: Steps) => boolean

export interface BodyTest {
  /** From the mapping entry. */
  readonly path: Path
  readonly pattern: BodyPattern
  readonly holds: Holds
  /** Those of a pattern that holds keys, in the order in which they are asked. */
  readonly keys: ReadonlyMap<string, BodyTest> | undefined
  /** Those of a list that hold keys. */
  readonly alternatives: readonly BodyTest[]
}

export function compileBodyTest(pattern: BodyPattern, path: Path): BodyTest {
  if (pattern.kind === 'any') return compileAny(pattern, path)
  if (pattern.kind !== 'keys')
    return { path, pattern, holds: compileLeaf(pattern, path), keys: undefined, alternatives: [] }
  const keys = new Map<string, BodyTest>()
  for (const [key, inner] of pattern.keys) keys.set(key, compileBodyTest(inner, [...path, key]))
  return { path, pattern, holds: ofAnyElement(compileKeys(keys)), keys, alternatives: [] }
}

/** The same object must satisfy all: two elements of a list that satisfy one key each are no match. */
function compileKeys(keys: ReadonlyMap<string, BodyTest>): Holds {
  const tests = Array.from(keys, ([key, { holds }]) => ({ key, holds }))
  return (value, steps) => {
    spend(steps, tests.length * stepsOfField)
    for (const { key, holds } of tests) if (!holds(fieldOf(value, key), steps)) return false
    return true
  }
}

function compileLeaf(pattern: Exclude<BodyPattern, { kind: 'keys' | 'any' }>, path: Path): Holds {
  switch (pattern.kind) {
    case 'equals':
      return compileEquals(pattern.value)
    case 'operators':
      return compileOperators(pattern.tests, path)
  }
}

function compileEquals(wanted: Scalar): Holds {
  return ofAnyElement((value) => value === wanted)
}

/** A long list of scalars is one look into a set. */
function compileAny(pattern: Extract<BodyPattern, { kind: 'any' }>, path: Path): BodyTest {
  const scalars = new Set<unknown>()
  const others: BodyTest[] = []
  for (const each of pattern.of) {
    if (each.kind === 'equals') scalars.add(each.value)
    else others.push(compileBodyTest(each, path))
  }
  const tests = others.map(({ holds }) => holds)
  if (scalars.size > 0) tests.unshift(ofAnyElement((value) => scalars.has(value)))
  const holds: Holds =
    tests.length === 1 ? (tests[0] as Holds) : (value, steps) => tests.some((each) => each(value, steps))
  const alternatives = others.flatMap((each) => (each.keys ? [each] : each.alternatives))
  return { path, pattern, holds, keys: undefined, alternatives }
}

/** Only `exists` is about the field; the others are about what it holds, and so about an element of a list. */
function compileOperators(operators: readonly OperatorTest[], path: Path): Holds {
  const [first] = operators
  if (first?.kind === 'exists' && operators.length === 1) {
    const { wanted } = first
    return (value) => (value !== undefined) === wanted
  }
  const tests = operators.map((operator) => compileOperator(operator, path))
  const [only] = tests
  if (only !== undefined && tests.length === 1)
    return ofAnyElement((value, steps) => value !== undefined && only(value, steps))
  return ofAnyElement((value, steps) => value !== undefined && tests.every((holds) => holds(value, steps)))
}

function compileOperator(operator: OperatorTest, path: Path): Holds {
  switch (operator.kind) {
    case 'exists':
      return () => operator.wanted
    case 'prefix':
      return (value) => typeof value === 'string' && value.startsWith(operator.text)
    case 'suffix':
      return (value) => typeof value === 'string' && value.endsWith(operator.text)
    case 'anything-but': {
      const refused = new Set<unknown>(operator.values)
      return (value) => !refused.has(value)
    }
    case 'numeric':
      return (value) => typeof value === 'number' && isWithin(value, operator.bounds)
    case 'pattern':
      return compileSearch(operator.regex.test, writePath([...path, 'pattern']))
  }
}

/** What a search costs at least, and how many steps each character takes. */
const stepsOfSearch = 40
const stepsOfCharacter = 2

/** A search in text, counted, that names its clause where the text is too long. */
export function compileSearch(search: (text: string) => boolean, clause: string): Holds {
  return (value, steps) => {
    if (typeof value !== 'string') return false
    spend(steps, stepsOfSearch + Math.min(value.length, longestSubject) * stepsOfCharacter)
    try {
      return search(value)
    } catch (error) {
      if (error instanceof RegexLimitError) throw new ClauseError(clause, error.message, { cause: error })
      throw error
    }
  }
}

function ofAnyElement(holds: Holds): Holds {
  return (value, steps) => (Array.isArray(value) ? anyElement(value, holds, steps) : holds(value, steps))
}
