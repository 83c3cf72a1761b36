/** Owns compiling a mapping's `match`, except `path`, which the decision index answers. */

import type { HeaderPattern, MappingSource } from '../../config/configuration.ts'
import {
  ClauseError,
  type Expression,
  ExpressionError,
  type Matcher,
  type Verdict,
} from '../../resolve/program.ts'
import type { Scope } from '../../resolve/scope.ts'
import { compileExpression, unwrapExpression } from '../expression.ts'
import { reportSyntax } from '../field.ts'
import type { Report } from '../report.ts'

type Match = NonNullable<MappingSource['match']>
type Condition = (scope: Scope) => boolean

/** Cheap conditions first; the expression is asked only when all of them hold. */
export function compileMatch(match: Match | undefined, report: Report): Matcher {
  const conditions: Condition[] = []
  if (match?.source !== undefined) conditions.push(compileSource(match.source))
  for (const [name, wanted] of Object.entries(match?.headers ?? {}))
    conditions.push(compileHeader(name, wanted))
  const when = match?.when === undefined ? undefined : compileWhen(match.when, report)

  const matches: Matcher['matches'] = (scope, steps) => {
    for (const condition of conditions) if (!condition(scope)) return false
    return when === undefined ? true : when(scope, steps)
  }
  return { equalities: [], matches, explain: async () => undefined }
}

function compileSource(wanted: string): Condition {
  return ({ request: { payload } }) =>
    typeof payload === 'object' &&
    payload !== null &&
    Object.hasOwn(payload, 'source') &&
    (payload as { readonly source: unknown }).source === wanted
}

/** Names fold case, values do not. A header that came several times matches if any of its values does. */
function compileHeader(name: string, wanted: HeaderPattern): Condition {
  if (typeof wanted === 'object' && !Array.isArray(wanted)) throw new Error('not built yet')
  const key = name.toLowerCase()
  const values = new Set(typeof wanted === 'string' ? [wanted] : (wanted as readonly string[]))
  return ({ request: { headers } }) => {
    const given = Object.hasOwn(headers, key) ? headers[key] : undefined
    if (given === undefined) return false
    return typeof given === 'string' ? values.has(given) : given.some((value) => values.has(value))
  }
}

function compileWhen(text: string, report: Report): Matcher['matches'] | undefined {
  const { source, offset } = unwrapExpression(text) ?? { source: text, offset: 0 }
  let expression: Expression
  try {
    expression = compileExpression(source, offset)
  } catch (error) {
    if (!reportSyntax(error, ['match', 'when'], report)) throw error
    return undefined
  }
  return (scope) => {
    try {
      const result = expression(scope)
      return result instanceof Promise ? result.then(isTrue, verdictOf) : isTrue(result)
    } catch (error) {
      return verdictOf(error)
    }
  }
}

/** Only `true` matches: a truthy value is more often a slip than a wish. */
function isTrue(result: unknown): boolean {
  return result === true
}

function verdictOf(error: unknown): Verdict {
  if (error instanceof ExpressionError) return new ClauseError('match.when', error.message, { cause: error })
  throw error
}
