/** Decides whether one mapping's `match` makes another's certain. It says no where it is not sure. */

import { bareExpression } from '../compile/expression.ts'
import { type BodyPattern, readBodyPattern } from '../compile/match/body-pattern.ts'
import { compileBodyTest } from '../compile/match/body-test.ts'
import type { OperatorTest } from '../compile/match/operators.ts'
import type { Scalar } from '../compile/match/scalar.ts'
import { silent } from '../compile/report.ts'
import type { MappingSource } from '../config/configuration.ts'
import type { HeaderPattern } from '../config/schema/mapping-schema.ts'
import { coversPath } from '../config/values/path-overlap.ts'
import { compileRegex } from '../regex/regex.ts'
import { uncontained } from '../resolve/containment.ts'

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
  return JSON.stringify(given) === JSON.stringify(wanted)
}

function satisfies(value: Scalar, pattern: BodyPattern): boolean {
  return compileBodyTest(pattern, []).holds(value, uncontained)
}
