/** Decides whether one mapping's `match` makes another's certain. It says no where it is not sure. */

import { bareExpression } from '../compile/expression.ts'
import { type BodyPattern, readBodyPattern } from '../compile/match/body-pattern.ts'
import { isWithin } from '../compile/match/numeric-bounds.ts'
import type { OperatorTest } from '../compile/match/operators.ts'
import type { Scalar } from '../compile/match/scalar.ts'
import { silent } from '../compile/report.ts'
import type { MappingSource } from '../config/configuration.ts'
import { coversPath } from '../config/path-overlap.ts'
import type { HeaderPattern } from '../config/schema/mapping-schema.ts'
import { compileRegex } from '../regex/regex.ts'

/** A `match`, read once for all comparisons. */
export interface Clauses {
  readonly path: string | undefined
  readonly source: string | undefined
  readonly headers: ReadonlyMap<string, BodyPattern>
  readonly body: ReadonlyMap<string, BodyPattern>
  /** The bare expression. */
  readonly when: string | undefined
}

export function readClauses(match: MappingSource['match']): Clauses {
  const pattern =
    match?.body === undefined ? undefined : readBodyPattern(match.body, ['match', 'body'], silent)
  const headers = Object.entries(match?.headers ?? {})
  return {
    path: match?.path,
    source: match?.source,
    headers: new Map(headers.map(([name, wanted]) => [name, readHeader(wanted)])),
    body: pattern?.kind === 'keys' ? pattern.keys : new Map(),
    when: match?.when === undefined ? undefined : bareExpression(match.when).source.trim(),
  }
}

/** A header that came several times matches by any of its values, as a list in a body does. */
function readHeader(wanted: HeaderPattern): BodyPattern {
  if (typeof wanted === 'string') return { kind: 'equals', value: wanted }
  if (isTexts(wanted)) return { kind: 'any', of: wanted.map((value) => ({ kind: 'equals', value })) }
  const { exists, pattern } = wanted
  const tests: OperatorTest[] = exists === undefined ? [] : [{ kind: 'exists', wanted: exists }]
  if (pattern !== undefined) tests.push({ kind: 'pattern', regex: compileRegex(pattern) })
  return { kind: 'operators', tests }
}

function isTexts(wanted: HeaderPattern): wanted is readonly string[] {
  return Array.isArray(wanted)
}

/** Whether every request that satisfies the given clauses satisfies the wanted ones. */
export function impliesMatch(given: Clauses, wanted: Clauses): boolean {
  return (
    (wanted.source === undefined || wanted.source === given.source) &&
    (wanted.when === undefined || (wanted.when === given.when && isDeterministic(wanted.when))) &&
    coversPath(wanted.path, given.path) &&
    impliesKeys(given.headers, wanted.headers) &&
    [...wanted.body].every(([key, pattern]) => impliesKey(given, key, pattern))
  )
}

/** `match.source` is about the same field, of an object: no element of a list could satisfy the rest instead. */
function impliesKey({ source, body }: Clauses, key: string, wanted: BodyPattern): boolean {
  const own = body.get(key)
  if (own !== undefined && implies(own, wanted)) return true
  return key === 'source' && source !== undefined && satisfies(source, wanted)
}

function isDeterministic(when: string): boolean {
  return !/\$(random|shuffle)\b/.test(when)
}

/**
 * Whether every value that satisfies the given pattern satisfies the wanted one. Lists need no special care, because one
 * pattern is only ever implied by one pattern, and not by two that different elements could satisfy.
 */
function implies(given: BodyPattern, wanted: BodyPattern): boolean {
  if (given.kind === 'any') return given.of.every((each) => implies(each, wanted))
  if (given.kind === 'equals') return satisfies(given.value, wanted)
  if (wanted.kind === 'any') return wanted.of.some((each) => implies(given, each))
  if (given.kind === 'keys') return wanted.kind === 'keys' && impliesKeys(given.keys, wanted.keys)
  return (
    wanted.kind === 'operators' &&
    wanted.tests.every((test) => given.tests.some((own) => impliesTest(own, test)))
  )
}

type Patterns = ReadonlyMap<string, BodyPattern>

function impliesKeys(given: Patterns, wanted: Patterns): boolean {
  return [...wanted].every(([key, pattern]) => {
    const own = given.get(key)
    return own !== undefined && implies(own, pattern)
  })
}

function impliesTest(given: OperatorTest, wanted: OperatorTest): boolean {
  // Every operator but `exists: false` fails for an absent field.
  if (wanted.kind === 'exists' && wanted.wanted) return given.kind !== 'exists' || given.wanted
  if (given.kind === 'prefix' && wanted.kind === 'prefix') return given.text.startsWith(wanted.text)
  if (given.kind === 'suffix' && wanted.kind === 'suffix') return given.text.endsWith(wanted.text)
  if (given.kind === 'anything-but' && wanted.kind === 'anything-but')
    return wanted.values.every((value) => given.values.includes(value))
  if (given.kind === 'pattern' && wanted.kind === 'pattern') return given.regex.source === wanted.regex.source
  return given.kind === wanted.kind && JSON.stringify(given) === JSON.stringify(wanted)
}

/** Whether a single value, and no list or object, satisfies the pattern. */
function satisfies(value: Scalar, pattern: BodyPattern): boolean {
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

function passes(value: Scalar, test: OperatorTest): boolean {
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
      return typeof value === 'number' && isWithin(value, test.bounds)
    case 'pattern':
      return typeof value === 'string' && test.regex.test(value)
  }
}

type Contradiction = { readonly path: readonly (string | number)[]; readonly why: string }

/** Finds clauses of one `match` that rule each other out, which loading does not see. */
export function findContradiction({ source, body }: Clauses): Contradiction | undefined {
  const path = findImpossible(body, ['body'])
  if (path !== undefined) return { path, why: 'no value passes all these tests' }
  const pattern = body.get('source')
  if (source === undefined || pattern === undefined || satisfies(source, pattern)) return undefined
  return { path: ['body', 'source'], why: '`match.source` asks for another value of the same field' }
}

/** Returns the path of a pattern that nothing can satisfy. */
function findImpossible(
  patterns: Patterns,
  above: readonly (string | number)[],
): readonly (string | number)[] | undefined {
  for (const [key, pattern] of patterns) {
    const path = [...above, key]
    const below = pattern.kind === 'keys' ? findImpossible(pattern.keys, path) : undefined
    if (below !== undefined) return below
    if (isImpossible(pattern)) return path
  }
  return undefined
}

/** What is wrong with a single operator is an error at load, so only several on one value are looked at. */
function isImpossible(pattern: BodyPattern): boolean {
  if (pattern.kind === 'any') return pattern.of.every(isImpossible)
  if (pattern.kind === 'keys') return findImpossible(pattern.keys, []) !== undefined
  if (pattern.kind !== 'operators') return false
  const { tests } = pattern
  const wantsText = tests.some(({ kind }) => kind === 'prefix' || kind === 'suffix' || kind === 'pattern')
  const bounds = tests.flatMap((test) => (test.kind === 'numeric' ? test.bounds : []))
  const only = bounds.find(({ operator }) => operator === '=')
  return (wantsText && bounds.length > 0) || (only !== undefined && !satisfies(only.value, pattern))
}
