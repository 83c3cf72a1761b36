/** Compiles a mapping's `match` except `path`, which the decision index tests. */

import type { MappingSource } from '../../config/configuration.ts'
import type { Path } from '../../config/values/path.ts'
import { ClauseError, type Equality, type Matcher } from '../../resolve/program.ts'
import type { Scope } from '../../resolve/scope.ts'
import { type Report, silent } from '../report.ts'
import type { SharedParts } from '../shared-parts.ts'
import { failuresOf, missOfBody } from './body-miss.ts'
import { type BodyPattern, readBodyPattern } from './body-pattern.ts'
import { type BodyTest, compileBodyTest } from './body-test.ts'
import type { Clause } from './clause.ts'
import { compileHeader } from './header-clause.ts'
import type { Scalar } from './scalar.ts'
import { fieldOf } from './walk.ts'
import { compileWhen, type When } from './when-clause.ts'
import { expectedOf, wordsOfValues } from './words.ts'

type Match = NonNullable<MappingSource['match']>

/** Cheap conditions come first, and the expression is evaluated only if all of them hold. */
export function compileMatch(match: Match | undefined, report: Report, shared?: SharedParts): Matcher {
  const clauses: Clause[] = []
  const add = (clause: Clause | undefined) => clause && clauses.push(clause)
  if (match?.source !== undefined) add(compileSource(match.source))
  for (const [name, wanted] of Object.entries(match?.headers ?? {})) add(compileHeader(name, wanted, report))
  if (match?.body !== undefined) add(compileBody(match.body, report))
  const when = match?.when === undefined ? undefined : compileWhen(match.when, report, shared)
  return {
    equalities: [...clauses, ...(when === undefined ? [] : [when])].flatMap(({ equalities }) => equalities),
    matches: createMatches(clauses, when),
    explain: createExplain(clauses, when),
  }
}

function createMatches(clauses: readonly Clause[], when: When | undefined): Matcher['matches'] {
  if (when !== undefined && clauses.length === 0) return when.verdict
  return (scope) => {
    for (const clause of clauses) {
      const outcome = decide(clause, scope)
      if (outcome !== true) return outcome
    }
    return when === undefined ? true : when.verdict(scope)
  }
}

function createExplain(clauses: readonly Clause[], when: When | undefined): Matcher['explain'] {
  return async (scope) => {
    for (const clause of clauses) {
      scope.containment.checkTime()
      const outcome = decide(clause, scope)
      if (outcome === true) continue
      const miss = clause.miss(scope)
      if (outcome !== false)
        return { path: clause.path, expected: 'a decision', error: outcome.message, ...miss }
      return miss && (await isOnly(clause, scope)) ? { ...miss, isOnly: true } : miss
    }
    const miss = await when?.miss(scope)
    return miss && { ...miss, isOnly: true }
  }

  /** Whether the clause fails by one value, and every other clause holds. */
  async function isOnly(failed: Clause, scope: Scope): Promise<boolean> {
    try {
      if ((failed.failures?.(scope) ?? 1) > 1) return false
      for (const clause of clauses) {
        scope.containment.checkTime()
        if (clause !== failed && !clause.holds(scope)) return false
      }
    } catch (error) {
      if (error instanceof ClauseError) return false
      throw error
    }
    return (await when?.miss(scope)) === undefined
  }
}

function decide(clause: Clause, scope: Scope): boolean | ClauseError {
  try {
    return clause.holds(scope)
  } catch (error) {
    if (error instanceof ClauseError) return error
    throw error
  }
}

/** Tests the payload itself, never an element of a list. */
function compileSource(wanted: string): Clause {
  const path = ['match', 'source']
  const words = wordsOfValues([wanted])
  return {
    path,
    equalities: [{ of: 'body', path: ['source'], values: [wanted] }],
    holds: ({ request: { payload } }) => !Array.isArray(payload) && fieldOf(payload, 'source') === wanted,
    miss: ({ request: { payload } }) => {
      const actual = Array.isArray(payload) ? undefined : fieldOf(payload, 'source')
      const expected = expectedOf(words, [wanted], actual)
      return actual === undefined ? { path, ...expected } : { path, ...expected, actual }
    },
  }
}

function compileBody(body: Readonly<Record<string, unknown>>, report: Report): Clause | undefined {
  const path = ['match', 'body']
  const pattern = readBodyPattern(body, path, report)
  if (pattern === undefined) return undefined
  return {
    path,
    equalities: equalitiesOfBody(pattern),
    holds: holdsOfBody(compileBodyTest(pattern, path)),
    miss: missOfPattern(body, path),
    failures: failuresOfPattern(body, path),
  }
}

/** Keeps only the closures, because the tree around them needs twice as much memory and serves explanations alone. */
function holdsOfBody({ holds }: BodyTest): Clause['holds'] {
  return ({ request, containment }) => holds(request.payload, containment)
}

/** Reads a pattern again that is known to be valid. */
function missOfPattern(body: Readonly<Record<string, unknown>>, path: Path): Clause['miss'] {
  return ({ request, containment }) => {
    const pattern = readBodyPattern(body, path, silent)
    return pattern && missOfBody(compileBodyTest(pattern, path), request.payload, containment)
  }
}

/** Reads a pattern again that is known to be valid. */
function failuresOfPattern(body: Readonly<Record<string, unknown>>, path: Path): Clause['failures'] {
  return ({ request, containment }) => {
    const pattern = readBodyPattern(body, path, silent)
    return pattern ? failuresOf(compileBodyTest(pattern, path), request.payload, containment) : 0
  }
}

/**
 * Returns the equalities that a body pattern requires, for the decision index. Each of them is necessary; together they
 * need not be sufficient, because of operators and because lists have elements.
 */
function equalitiesOfBody(pattern: BodyPattern, path: readonly string[] = []): readonly Equality[] {
  if (pattern.kind === 'keys')
    return Array.from(pattern.keys, ([key, inner]) => equalitiesOfBody(inner, [...path, key])).flat()
  const values = wantedValues(pattern)
  return values === undefined ? [] : [{ of: 'body', path, values }]
}

/** Returns undefined if other values may match too. */
function wantedValues(pattern: BodyPattern): readonly Scalar[] | undefined {
  if (pattern.kind === 'equals') return [pattern.value]
  if (pattern.kind !== 'any') return undefined
  const values: Scalar[] = []
  for (const each of pattern.of) {
    const wanted = wantedValues(each)
    if (wanted === undefined) return undefined
    for (const value of wanted) values.push(value)
  }
  return values
}
