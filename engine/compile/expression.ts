/** Owns JSONata expressions: read once at load, evaluated in turns and within limits, results made plain JSON. */

import type { Expression } from '../resolve/program.ts'
import { expressionRoot, prepareRoot } from '../resolve/scope.ts'
import { evaluationError } from './expression/failure.ts'
import { withEvaluation } from './expression/library.ts'
import { parseExpression } from './expression/parse.ts'
import { makePlain } from './expression/plain.ts'
import { evaluateInTurns } from './expression/scheduler.ts'

export { ExpressionSyntaxError } from './expression/syntax-error.ts'

const wrapped = /^\s*\{%([\s\S]*)%\}\s*$/

/** What stands between `{%` and `%}`, and where it begins; nothing for a text that is not wholly an expression. */
export function unwrapExpression(
  text: string,
): { readonly source: string; readonly offset: number } | undefined {
  const source = wrapped.exec(text)?.[1]
  return source === undefined ? undefined : { source, offset: text.indexOf('{%') + 2 }
}

/** The same of a field that is an expression by its nature, which may be written with or without the marks of one. */
export function bareExpression(text: string): { readonly source: string; readonly offset: number } {
  return unwrapExpression(text) ?? { source: text, offset: 0 }
}

/**
 * `offset`: where the expression begins in its field's text, so that errors point into that.
 * @throws ExpressionSyntaxError
 */
export function compileExpression(source: string, offset = 0): Expression {
  const expression = parseExpression(source, offset)
  return async (scope) => {
    try {
      await prepareRoot(scope)
      return await evaluateInTurns((turns) =>
        withEvaluation(turns, scope.request.now, async (bindings) =>
          makePlain(await expression.evaluate(expressionRoot(scope), bindings), turns),
        ),
      )
    } catch (cause) {
      throw evaluationError(cause, source, offset)
    }
  }
}
