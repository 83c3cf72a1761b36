/** Compiles a body pattern to a tree of closures that test a payload, with the path of each. */

import { type Path, writePath } from '../../config/values/path.ts'
import { type Regex, RegexLimitError } from '../../regex/regex.ts'
import { type Containment, ContainmentLimit } from '../../resolve/containment.ts'
import { ClauseError } from '../../resolve/program.ts'
import type { BodyPattern } from './body-pattern.ts'
import { isWithin } from './numeric-bounds.ts'
import type { OperatorTest } from './operators.ts'
import type { Scalar } from './scalar.ts'
import { anyElement, fieldOf } from './walk.ts'

/** Tests a value; `undefined` is an absent field. @throws ClauseError, NeedsThread */
type Holds = (value: unknown, containment: Containment) => boolean

export interface BodyTest {
  /** The path from the mapping entry. */
  readonly path: Path
  readonly pattern: BodyPattern
  readonly holds: Holds
  /** The tests of a pattern with keys, in the order of testing. */
  readonly keys: ReadonlyMap<string, BodyTest> | undefined
  /** The alternatives of a list that have keys. */
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

/** The same object must satisfy all keys: two elements of a list that satisfy one key each are no match. */
function compileKeys(keys: ReadonlyMap<string, BodyTest>): Holds {
  const tests = Array.from(keys, ([key, { holds }]) => ({ key, holds }))
  return (value, containment) => {
    for (const { key, holds } of tests) if (!holds(fieldOf(value, key), containment)) return false
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

/** A long list of scalars is tested with one lookup in a set. */
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
    tests.length === 1
      ? (tests[0] as Holds)
      : (value, containment) => tests.some((each) => each(value, containment))
  const alternatives = others.flatMap((each) => (each.keys ? [each] : each.alternatives))
  return { path, pattern, holds, keys: undefined, alternatives }
}

/** Only `exists` tests the field itself. The others test its value, and so any element of a list. */
function compileOperators(operators: readonly OperatorTest[], path: Path): Holds {
  const [first] = operators
  if (first?.kind === 'exists' && operators.length === 1) {
    const { wanted } = first
    return (value) => (value !== undefined) === wanted
  }
  const tests = operators.map((operator) => compileOperator(operator, path))
  const [only] = tests
  if (only !== undefined && tests.length === 1)
    return ofAnyElement((value, containment) => value !== undefined && only(value, containment))
  return ofAnyElement(
    (value, containment) => value !== undefined && tests.every((holds) => holds(value, containment)),
  )
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
      return compileSearch(operator.regex, writePath([...path, 'pattern']))
  }
}

/** Compiles a search in a text. If the text is too long, the error names the clause. */
export function compileSearch(regex: Regex, clause: string): Holds {
  return (value, containment) => {
    if (typeof value !== 'string') return false
    try {
      if (regex.isSlow(value)) containment.beginUnbounded()
      const isFound = regex.test(value)
      containment.checkTime()
      return isFound
    } catch (error) {
      if (error instanceof RegexLimitError || error instanceof ContainmentLimit)
        throw new ClauseError(clause, error instanceof ContainmentLimit ? tooManySteps : error.message, {
          cause: error,
        })
      throw error
    }
  }
}

const tooManySteps = 'the regular expression takes too many steps for a text of that length'

function ofAnyElement(holds: Holds): Holds {
  return (value, containment) =>
    Array.isArray(value)
      ? anyElement(value, (element) => holds(element, containment))
      : holds(value, containment)
}
