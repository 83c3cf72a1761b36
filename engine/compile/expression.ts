/** Compiles JSONata expressions: read once at load, evaluated in turns and within limits, results made plain JSON. */

import type { Expression } from '../resolve/program.ts'
import {
  everyName,
  expressionPayload,
  reservedReader,
  type Scope,
  type ScopeNames,
} from '../resolve/scope.ts'
import { evaluationError } from './expression/failure.ts'
import type { Slip } from './expression/foreign-syntax.ts'
import { choicesOf, type Kind } from './expression/kind.ts'
import { withEvaluation } from './expression/library.ts'
import { type RootName, resolveNames, variableOf } from './expression/names.ts'
import { parseExpression } from './expression/parse.ts'
import { makePlain } from './expression/plain.ts'
import { evaluateInTurns } from './expression/scheduler.ts'
import { readProgram, refuseSlips } from './expression/slips.ts'

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

export interface CompiledExpression {
  readonly evaluate: Expression
  /** What its text says about the value that it gives. */
  readonly kind: Kind
  /** The texts that it chooses between, where each is written in it. */
  readonly choices: readonly string[] | undefined
  /** The names that it looks up at its root, if one of them can be ours or the list of `forEach`. */
  readonly names: readonly RootName[]
  /** What may be meant, though hardly; the places are those of the field's text. */
  readonly doubtful: readonly Slip[]
}

/** Whether a text is an expression that only chooses between texts that are written in it. */
export function isChoice(text: string): boolean {
  const source = unwrapExpression(text)?.source
  if (source === undefined) return false
  try {
    return choicesOf(parseExpression(source, 0).expression.ast()) !== undefined
  } catch {
    return false
  }
}

/**
 * `offset`: where the expression begins in its field's text, so that errors point into that. `names`: what the names
 * at its root mean; by default each of ours has a value.
 * @throws ExpressionSyntaxError
 */
export function compileExpression(
  source: string,
  offset = 0,
  names: ScopeNames = everyName,
): CompiledExpression {
  const { expression, nodes } = parseExpression(source, offset)
  const ast = expression.ast()
  const program = readProgram(nodes, source)
  const kind = program.kindOf(ast)
  const choices = choicesOf(ast)
  const rootNames = resolveNames(ast, source, offset, names)
  const doubtful = refuseSlips(program, offset)
  const bind = bindingsOf(rootNames, names)
  const evaluate: Expression = async (scope) => {
    try {
      const payload = await expressionPayload(scope)
      return await evaluateInTurns((turns) =>
        withEvaluation(turns, scope.request.now, async (bindings) =>
          makePlain(await expression.evaluate(payload, { ...bindings, ...bind(scope, payload) }), turns),
        ),
      )
    } catch (cause) {
      throw evaluationError(cause, source, offset)
    }
  }
  return { evaluate, kind, choices, names: rootNames, doubtful }
}

type Bindings = Readonly<Record<string, unknown>>

/** Gives the values of those of our names that an expression reads. */
function bindingsOf(
  rootNames: readonly RootName[],
  names: ScopeNames,
): (scope: Scope, payload: unknown) => Bindings {
  const read = [...new Set(rootNames.map(({ name }) => name))].flatMap((name) => {
    const reader = reservedReader(name, names)
    return reader === undefined ? [] : [{ name, reader }]
  })
  return (scope, payload) =>
    Object.fromEntries(
      read.map(({ name, reader }) => [variableOf(name), name === 'payload' ? payload : reader(scope)]),
    )
}
