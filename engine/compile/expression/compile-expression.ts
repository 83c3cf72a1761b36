/** Checks JSONata expressions at load, and makes functions of them that are evaluated within limits and return plain JSON. */

import type { Hint } from '../../config/values/hints.ts'
import { NeedsThread } from '../../resolve/model/containment.ts'
import type { Equality, Expression } from '../../resolve/model/program.ts'
import {
  everyName,
  exactPayload,
  reservedReader,
  type Scope,
  type ScopeNames,
} from '../../resolve/model/scope.ts'
import { describeTree, refuseMistakes } from './common-mistakes.ts'
import { equalitiesOfCondition } from './condition.ts'
import { createLibraryExpression } from './evaluate.ts'
import { evaluationError } from './failure.ts'
import { choicesOf, literalTypeOf } from './literals.ts'
import { type RootName, resolveNames, variableOf } from './names.ts'
import { parseExpression } from './parse.ts'

export { ExpressionSyntaxError } from './fault.ts'

const wrapped = /^\s*\{%([\s\S]*)%\}\s*$/

/** Returns the text between `{%` and `%}` and its place, or undefined if the text is not wholly an expression. */
export function unwrapExpression(
  text: string,
): { readonly source: string; readonly offset: number } | undefined {
  const source = wrapped.exec(text)?.[1]
  return source === undefined ? undefined : { source, offset: text.indexOf('{%') + 2 }
}

/** Does the same for a field that is always an expression, with or without `{% … %}`. */
export function bareExpression(text: string): { readonly source: string; readonly offset: number } {
  return unwrapExpression(text) ?? { source: text, offset: 0 }
}

export interface CompiledExpression {
  readonly evaluate: Expression
  /** The equalities that are necessary for the expression to be true. */
  readonly equalities: readonly Equality[]
  /** The type of the literal that the expression is, unless it is a truth value. */
  readonly literalType: string | undefined
  /** The literal texts that the expression chooses between, if it does nothing else. */
  readonly choices: readonly string[] | undefined
  /** The names that the expression looks up at its root. */
  readonly names: readonly RootName[]
  /** Probable mistakes. Their offsets are those of the field's text. */
  readonly doubtful: readonly Hint[]
}

/**
 * `offset` is where the expression begins in its field's text, so that errors have places of that text. `names` are the
 * meanings of the names at its root. By default every reserved name has a value. With `keepsTree` it is not read again when
 * it is first evaluated.
 * @throws ExpressionSyntaxError
 */
export function compileExpression(
  source: string,
  offset = 0,
  names: ScopeNames = everyName,
  keepsTree = false,
): CompiledExpression {
  const parsed = parseExpression(source, offset)
  const { ast, nodes } = parsed
  const tree = describeTree(nodes, source)
  const rootNames = resolveNames(ast, source, offset, names)
  const doubtful = refuseMistakes(tree, offset)
  const equalities = equalitiesOfCondition(ast)
  const readers = readersOf(rootNames, names)
  const whole = createLibraryExpression(
    source,
    (tree) => void resolveNames(tree, source, offset, names),
    keepsTree ? { resolved: parsed } : {},
  )
  const evaluate: Expression = async (scope) => {
    try {
      scope.containment.beginUnbounded()
      const payload = exactPayload(scope)
      return await whole(payload, valuesOf(readers, scope, payload), scope.request.now)
    } catch (cause) {
      if (cause instanceof NeedsThread) throw cause
      throw evaluationError(cause, source, offset)
    }
  }
  return {
    evaluate,
    equalities,
    literalType: literalTypeOf(ast),
    choices: choicesOf(ast),
    names: rootNames,
    doubtful,
  }
}

type VariableReader = (scope: Scope, payload: unknown) => unknown

/** The readers of the reserved names in an expression, by the variables that stand for them. */
function readersOf(rootNames: readonly RootName[], names: ScopeNames): ReadonlyMap<string, VariableReader> {
  const readers = new Map<string, VariableReader>()
  for (const { name } of rootNames) {
    const reader = reservedReader(name, names)
    if (reader === undefined) continue
    readers.set(variableOf(name), name === 'payload' ? (_scope, payload) => payload : reader)
  }
  return readers
}

function valuesOf(
  readers: ReadonlyMap<string, VariableReader>,
  scope: Scope,
  payload: unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...readers].map(([variable, read]) => [variable, read(scope, payload)]))
}
