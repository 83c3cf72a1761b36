/**
 * Evaluates expressions with the library. The caller is an evaluator thread, or a process that serves one user: the time
 * that an expression takes depends on the payload.
 */

import type jsonata from 'jsonata'
import { ContainmentLimit } from '../../resolve/model/containment.ts'
import { thrownLimit } from './fault.ts'
import { pinFunctions, registerFunctions, timeVariable } from './functions.ts'
import { type ExpressionLimits, type ParsedExpression, parseExpression } from './parse.ts'
import { makePlain } from './plain.ts'
import type { SyntaxNode } from './syntax-tree.ts'

/** Rejects with the library's errors. */
type EvaluateInLibrary = (
  payload: unknown,
  bindings: Readonly<Record<string, unknown>>,
  now: number,
) => Promise<unknown>

/**
 * Reads the expression when it is first evaluated, because a gateway has many of which each request needs a few: a tree
 * takes some 20 KB. `prepare` changes the tree, unless a `resolved` one is given. `limits` replace the usual ones.
 */
export function createLibraryExpression(
  source: string,
  prepare: (ast: unknown) => void = () => {},
  {
    resolved,
    limits,
  }: { readonly resolved?: ParsedExpression; readonly limits?: Partial<ExpressionLimits> } = {},
): EvaluateInLibrary {
  let ready: { readonly expression: jsonata.Expression; readonly writes: boolean } | undefined

  function read(): NonNullable<typeof ready> {
    const { expression, ast, nodes } = resolved ?? parseExpression(source, 0, limits)
    if (resolved === undefined) prepare(ast)
    registerFunctions(expression)
    return { expression, writes: nodes.some(mayWrite) }
  }

  return async (payload, bindings, now) => {
    await pinFunctions()
    ready ??= read()
    const root = ready.writes ? structuredClone(payload) : payload
    return makePlain(await ready.expression.evaluate(root, { ...bindings, [timeVariable]: now }))
  }
}

/**
 * The library writes elements into literal empty lists that it groups, and a transform `|…|…|` writes into the parts
 * that it selects.
 */
function mayWrite({ type, group }: SyntaxNode): boolean {
  return group !== undefined || type === 'transform'
}

/** A piece of work for which a thread was ended fails like an expression that takes too long. */
export function limitOf(error: unknown): unknown {
  return error instanceof ContainmentLimit
    ? thrownLimit('it takes more time or memory than one expression may', 'D1012')
    : error
}
