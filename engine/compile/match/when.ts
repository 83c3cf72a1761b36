/** Compiles the clause of `match.when`, which is evaluated. */

import { type Equality, type Expression, ExpressionError } from '../../resolve/model/program.ts'
import type { Scope } from '../../resolve/model/scope.ts'
import type { FailedClause } from '../../resolve/model/trace.ts'
import { bareExpression } from '../expression/compile-expression.ts'
import type { Kind } from '../expression/kind.ts'
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
  const { evaluate, equalities, kind } = compiled
  const hint = neverTrue[kind]?.(bareExpression(text).source.trim())
  if (hint !== undefined) {
    const message = `gives a ${kind}, where only \`true\` matches`
    report.error({ code: 'WHEN_NOT_BOOLEAN', path, message, hint })
    return undefined
  }
  return { equalities, miss: (scope) => missOf(evaluate, scope) }
}

/** Maps a kind to what to write instead of a condition that can never hold. */
const neverTrue: Partial<Record<Kind, (source: string) => string>> = {
  number: (source) => `Compare it: \`${source} > 0\`.`,
  text: () => "Compare it: `action = 'opened'`. Conditions are joined with `and`, not with `&`.",
  list: (source) =>
    foundByMatch(source) ??
    `Ask whether a value is in it: \`action in ${source.startsWith('[') ? source : `(${source})`}\`.`,
  object: () => 'Ask whether something is there: `$exists(…)`.',
  null: () => 'Ask whether a field is there: `$exists(…)` or `$not($exists(…))`.',
  function: () => 'Call it: `$exists(labels)`.',
}

/** `$match` returns matches, while `$contains` tests whether there is one. */
function foundByMatch(source: string): string | undefined {
  const [, text, pattern] = /^\$match\(([^,()]+),\s*(\/.+\/i?|'[^']*'|"[^"]*")\s*\)$/.exec(source) ?? []
  return pattern === undefined
    ? undefined
    : `Ask whether there is any: \`$contains(${text?.trim()}, ${pattern})\`.`
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
