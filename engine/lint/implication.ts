/** Decides whether one mapping's `match` makes another's certain. It says no where it is not sure. */

import { bareExpression } from '../compile/expression/compile-expression.ts'
import { silent } from '../compile/fields/report.ts'
import { asksForAbsence, type OperatorTest } from '../compile/match/operators.ts'
import { isMatch, type Pattern } from '../compile/match/pattern.ts'
import { readBody, readHeader, valuesPattern } from '../compile/match/read-pattern.ts'
import type { MappingSource } from '../config/configuration.ts'
import { coversPath } from '../config/values/path-overlap.ts'
import { uncontained } from '../resolve/model/containment.ts'

/** A `match`, read once for all comparisons. */
export interface Clauses {
  readonly path: string | undefined
  readonly source: string | undefined
  readonly headers: ReadonlyMap<string, Pattern>
  readonly body: ReadonlyMap<string, Pattern>
  /** The bare expression. */
  readonly when: string | undefined
}

export function readClauses(match: MappingSource['match']): Clauses {
  const body = match?.body === undefined ? undefined : readBody(match.body, ['match', 'body'], silent)
  const headers = Object.entries(match?.headers ?? {}).flatMap(([name, wanted]) => {
    const pattern = readHeader(name, wanted, ['match', 'headers', name], silent)
    return pattern === undefined ? [] : [[name, pattern] as const]
  })
  return {
    path: match?.path,
    source: match?.source,
    headers: new Map(headers),
    body: new Map(body?.keys),
    when: match?.when === undefined ? undefined : bareExpression(match.when).source.trim(),
  }
}

/** True if every request that satisfies the given clauses satisfies the wanted ones. */
export function impliesMatch(premise: Clauses, conclusion: Clauses): boolean {
  return (
    (conclusion.source === undefined || conclusion.source === premise.source) &&
    (conclusion.when === undefined ||
      (conclusion.when === premise.when && isDeterministic(conclusion.when))) &&
    coversPath(conclusion.path, premise.path) &&
    impliesKeys(premise.headers, conclusion.headers) &&
    [...conclusion.body].every(([key, pattern]) => impliesKey(premise, key, pattern))
  )
}

/** `match.source` is about the same field, of an object: no element of a list could satisfy the rest instead. */
function impliesKey({ source, body }: Clauses, key: string, wanted: Pattern): boolean {
  const own = body.get(key)
  if (own !== undefined && implies(own, wanted)) return true
  return key === 'source' && source !== undefined && implies(valuesPattern([source]), wanted)
}

function isDeterministic(when: string): boolean {
  return !/\$(random|shuffle)\b/.test(when)
}

/**
 * True if every value that satisfies the given pattern satisfies the wanted one. Lists need no special care, because one
 * pattern is only ever implied by one pattern, and not by two that different elements could satisfy.
 */
function implies(premise: Pattern, conclusion: Pattern): boolean {
  if (premise.kind === 'any') return premise.patterns.every((each) => implies(each, conclusion))
  if (premise.kind === 'values')
    return [...premise.values].every((value) => isMatch(conclusion, value, uncontained))
  if (conclusion.kind === 'any') return conclusion.patterns.some((each) => implies(premise, each))
  if (premise.kind === 'keys')
    return conclusion.kind === 'keys' && impliesKeys(new Map(premise.keys), new Map(conclusion.keys))
  return (
    conclusion.kind === 'operators' &&
    conclusion.tests.every((test) => premise.tests.some((own) => impliesTest(own, test)))
  )
}

type Patterns = ReadonlyMap<string, Pattern>

function impliesKeys(premise: Patterns, conclusion: Patterns): boolean {
  return [...conclusion].every(([key, pattern]) => {
    const own = premise.get(key)
    return own !== undefined && implies(own, pattern)
  })
}

function impliesTest(premise: OperatorTest, conclusion: OperatorTest): boolean {
  // Every operator but `exists: false` fails for an absent field.
  if (conclusion.name === 'exists' && conclusion.operand === true) return !asksForAbsence(premise)
  return (
    premise.name === conclusion.name && JSON.stringify(premise.operand) === JSON.stringify(conclusion.operand)
  )
}
