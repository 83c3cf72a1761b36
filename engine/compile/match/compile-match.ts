/** Compiles a mapping's `match` except `path`, which the decision index tests. */

import type { MappingSource } from '../../config/configuration.ts'
import type { Path } from '../../config/values/path.ts'
import { memberOf } from '../../payload/payload-path.ts'
import type { HookRequest } from '../../resolve/model/decision.ts'
import { ClauseError, type Equality, type Matcher, type Verdict } from '../../resolve/model/program.ts'
import { everyName, type Scope } from '../../resolve/model/scope.ts'
import type { FailedClause } from '../../resolve/model/trace.ts'
import type { Report } from '../fields/report.ts'
import { createSharedTexts, createTexts, type Texts } from '../fields/texts.ts'
import { countFailures, equalitiesOf, isMatch, missHere, missOf, type Pattern } from './pattern.ts'
import { readBody, readHeader, valuesPattern } from './read-pattern.ts'
import { compileWhen, type When } from './when.ts'

/** One condition of a `match`: a pattern for a value of the request. */
interface Clause {
  /** The path from the mapping entry. */
  readonly path: Path
  readonly pattern: Pattern
  /** Where the value is, for the decision index. */
  readonly part: Equality['part']
  readonly field: readonly string[]
  readonly valueIn: (request: HookRequest) => unknown
  /** True if a list is refused, so that the value itself must match, and no element. */
  readonly isPlain?: true
}

/** Cheap conditions come first, and the expression is evaluated only if all of them hold. */
export function compileMatch(
  match: MappingSource['match'],
  report: Report,
  texts = textsAlone(report),
): Matcher {
  const clauses = clausesOf(match ?? {}, report)
  const when = match?.when === undefined ? undefined : compileWhen(match.when, report, texts)
  return {
    equalities: [
      ...clauses.flatMap(({ pattern, part, field }) => equalitiesOf(pattern, part, field)),
      ...(when?.equalities ?? []),
    ],
    matches: (scope) => {
      try {
        if (!clauses.every((clause) => holds(clause, scope))) return false
      } catch (error) {
        if (error instanceof ClauseError) return error
        throw error
      }
      return when === undefined ? true : when.miss(scope).then(verdictOf)
    },
    explain: (scope) => explain(clauses, when, scope),
  }
}

/** For a `match` without a mapping around it. */
function textsAlone(report: Report): Texts {
  const common = { shared: createSharedTexts(), report, read: [], onUnbounded: () => undefined }
  return createTexts(common, everyName)
}

function verdictOf(miss: FailedClause | undefined): Verdict {
  return miss?.error === undefined ? miss === undefined : new ClauseError('match.when', miss.error)
}

function clausesOf(match: NonNullable<MappingSource['match']>, report: Report): readonly Clause[] {
  const { source, headers = {}, body } = match
  const clauses: Clause[] = []
  if (source !== undefined)
    clauses.push({
      path: ['match', 'source'],
      pattern: valuesPattern([source]),
      part: 'body',
      field: ['source'],
      // That of the payload itself, never of an element of a list.
      valueIn: ({ payload }) => (Array.isArray(payload) ? undefined : memberOf(payload, 'source')),
      isPlain: true,
    })
  for (const [written, wanted] of Object.entries(headers)) {
    const name = written.toLowerCase()
    const path = ['match', 'headers', written]
    const pattern = readHeader(written, wanted, path, report)
    const valueIn: Clause['valueIn'] = (request) => memberOf(request.headers, name)
    if (pattern !== undefined) clauses.push({ path, pattern, part: 'header', field: [name], valueIn })
  }
  const path = ['match', 'body']
  const pattern = body === undefined ? undefined : readBody(body, path, report)
  if (pattern !== undefined)
    clauses.push({ path, pattern, part: 'body', field: [], valueIn: ({ payload }) => payload })
  return clauses
}

/** @throws ClauseError, NeedsThread */
function holds({ pattern, valueIn, isPlain }: Clause, { request, containment }: Scope): boolean {
  const value = valueIn(request)
  return !(isPlain && Array.isArray(value)) && isMatch(pattern, value, containment)
}

/** Returns the first failing clause in the order of matching. */
async function explain(
  clauses: readonly Clause[],
  when: When | undefined,
  scope: Scope,
): Promise<FailedClause | undefined> {
  for (const clause of clauses) {
    const { path, pattern, valueIn } = clause
    const { request, containment } = scope
    containment.checkTime()
    const value = valueIn(request)
    const isRefused = clause.isPlain && Array.isArray(value)
    const miss = isRefused ? missHere(pattern, value, path) : missOf(pattern, value, path, containment)
    if (miss === undefined) continue
    if (miss.error !== undefined || !(await isOnly(clause, clauses, when, scope))) return miss
    return { ...miss, isOnly: true }
  }
  const miss = await when?.miss(scope)
  return miss && { ...miss, isOnly: true }
}

/** True if the clause fails by one value, and every other clause holds. */
async function isOnly(
  failed: Clause,
  clauses: readonly Clause[],
  when: When | undefined,
  scope: Scope,
): Promise<boolean> {
  const { request, containment } = scope
  try {
    if (countFailures(failed.pattern, failed.valueIn(request), containment) > 1) return false
    for (const clause of clauses) {
      containment.checkTime()
      if (clause !== failed && !holds(clause, scope)) return false
    }
  } catch (error) {
    if (error instanceof ClauseError) return false
    throw error
  }
  return (await when?.miss(scope)) === undefined
}
