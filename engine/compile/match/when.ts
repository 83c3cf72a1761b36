/** Compiles the clause of `match.when`, which is evaluated. */

import { type Equality, type Expression, ExpressionError } from '../../resolve/model/program.ts'
import type { Scope } from '../../resolve/model/scope.ts'
import type { FailedClause } from '../../resolve/model/trace.ts'
import type { Report } from '../fields/report.ts'
import type { Texts } from '../fields/texts.ts'

export interface When {
  readonly equalities: readonly Equality[]
  readonly miss: (scope: Scope) => Promise<FailedClause | undefined>
}

const path = ['match', 'when']

/** Returns undefined if something was reported. */
export function compileWhen(text: string, report: Report, texts: Texts): When | undefined {
  const compiled = texts.expression(text, path)
  if (compiled === undefined) return undefined
  const { evaluate, equalities, literalType } = compiled
  if (literalType === undefined) return { equalities, miss: (scope) => missOf(evaluate, scope) }
  report.error({
    code: 'WHEN_NOT_BOOLEAN',
    path,
    message: `is ${literalType}, where only \`true\` matches`,
    hint: "Compare it with a field: `action = 'opened'`, `action in ['opened', 'reopened']`.",
  })
  return undefined
}

/** Only `true` matches, because a truthy value is more often a mistake than intended. */
async function missOf(expression: Expression, scope: Scope): Promise<FailedClause | undefined> {
  try {
    const actual = await expression(scope)
    if (actual === true) return undefined
    if (actual === undefined) return { path, expected: 'true' }
    const expected = typeof actual === 'boolean' ? 'true' : 'true, and nothing else that counts as true'
    return { path, expected, actual }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    return { path, expected: 'true', error: error.message }
  }
}
