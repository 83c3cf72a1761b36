/** Owns when one mapping's `match` makes another's certain. */

import { bareExpression } from '../../compile/expression.ts'
import { type BodyPattern, readBodyPattern } from '../../compile/match/body-pattern.ts'
import type { Report } from '../../compile/report.ts'
import type { HeaderPattern, MappingSource } from '../../config/configuration.ts'
import { implies } from './body.ts'
import { covers } from './endpoints.ts'
import { impliesHeader } from './header.ts'

/** A `match`, read once for all comparisons. */
export interface Clauses {
  readonly path: string | undefined
  readonly source: string | undefined
  readonly headers: ReadonlyMap<string, HeaderPattern>
  readonly body: ReadonlyMap<string, BodyPattern>
  /** Without what may stand around an expression. */
  readonly when: string | undefined
}

export function readClauses(match: MappingSource['match']): Clauses {
  const pattern =
    match?.body === undefined ? undefined : readBodyPattern(match.body, ['match', 'body'], silent)
  return {
    path: match?.path,
    source: match?.source,
    headers: new Map(Object.entries(match?.headers ?? {})),
    body: pattern?.kind === 'keys' ? pattern.keys : new Map(),
    when: match?.when === undefined ? undefined : bareExpression(match.when).source.trim(),
  }
}

/**
 * Whether every request that satisfies the given clauses satisfies the wanted ones. It says no where it is not sure; of
 * expressions it knows only that the same text gives the same answer.
 */
export function impliesMatch(given: Clauses, wanted: Clauses): boolean {
  return (
    (wanted.source === undefined || wanted.source === given.source) &&
    (wanted.when === undefined || (wanted.when === given.when && isSteady(wanted.when))) &&
    covers(wanted.path, given.path) &&
    [...wanted.headers].every(([name, pattern]) => {
      const own = given.headers.get(name)
      return own !== undefined && impliesHeader(own, pattern)
    }) &&
    [...wanted.body].every(([key, pattern]) => impliesKey(given, key, pattern))
  )
}

/** `match.source` speaks of the same field, and of an object: no other element could satisfy the rest. */
function impliesKey({ source, body }: Clauses, key: string, wanted: BodyPattern): boolean {
  const own = body.get(key)
  if (own !== undefined && implies(own, wanted)) return true
  return key === 'source' && source !== undefined && implies({ kind: 'equals', value: source }, wanted)
}

/** What is wrong with a pattern was told when it was compiled. */
export const silent: Report = { error: () => undefined, warn: () => undefined }

/** Asked twice, it gives the same. */
function isSteady(when: string): boolean {
  return !/\$(random|shuffle)\b/.test(when)
}
