/**
 * Evaluates expressions with the library. The caller is an evaluator thread, or a process that serves one user: the time
 * that an expression takes depends on the payload.
 */

import { pinFunctions, registerFunctions, timeVariable } from './functions.ts'
import { type ParsedExpression, parseExpression } from './parse.ts'
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
 * takes some 20 KB. `prepare` changes the tree, unless a `resolved` one is given. The expression may take
 * `maxMs` of processor time; default: a second.
 */
export function createLibraryExpression(
  source: string,
  prepare: (ast: unknown) => void = () => {},
  { resolved, maxMs }: { readonly resolved?: ParsedExpression; readonly maxMs?: number } = {},
): EvaluateInLibrary {
  let ready: { readonly parsed: ParsedExpression; readonly writes: boolean } | undefined

  function read(): NonNullable<typeof ready> {
    const parsed = resolved ?? parseExpression(source, 0, maxMs)
    if (resolved === undefined) prepare(parsed.ast)
    registerFunctions(parsed.expression)
    return { parsed, writes: parsed.nodes.some(mayWrite) }
  }

  return async (payload, bindings, now) => {
    if (ready === undefined) {
      await pinFunctions()
      ready = read()
    }
    const root = ready.writes ? structuredClone(payload) : payload
    const { expression, begin } = ready.parsed
    begin()
    return makePlain(await expression.evaluate(root, { ...bindings, [timeVariable]: now }))
  }
}

/**
 * The library writes elements into literal empty lists that it groups, and a transform `|…|…|` writes into the parts
 * that it selects.
 */
function mayWrite({ type, group }: SyntaxNode): boolean {
  return group !== undefined || type === 'transform'
}
