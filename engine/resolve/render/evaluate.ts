/** Evaluates a mapping's expressions and its `vars`, and says where one failed. */

import type { Path } from '../../config/values/path.ts'
import { AbsentValueError } from '../model/output.ts'
import { type Expression, ExpressionError, type Program } from '../model/program.ts'
import type { TraceRecorder } from '../model/recorder.ts'
import { RefusalError, refusalAt } from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'

/** @throws RefusalError `EXPRESSION_FAILED` */
export async function evaluateAt(path: Path, expression: Expression, scope: Scope): Promise<unknown> {
  try {
    return await expression(scope)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    throw refusalAt(path, 'EXPRESSION_FAILED', error.message, error)
  }
}

/**
 * Returns the scope with the mapping's `vars`, computed in order, so that each sees the earlier ones. @throws
 * RefusalError `EXPRESSION_FAILED`
 */
export async function withVars(program: Program, scope: Scope, recorder?: TraceRecorder): Promise<Scope> {
  const values: Record<string, unknown> = Object.create(null)
  const inner: Scope = { ...scope, vars: values, ownTexts: program.ownTexts }
  for (const { name, evaluate } of program.vars) {
    const value = await evaluateAt(['vars', name], evaluate, inner)
    values[name] = value
    recorder?.onVar(name, value)
  }
  return inner
}

/** Turns an error about an absent value or a limit into one about the field at `path`. Other errors stay as they are. */
export function locateError(error: unknown, path: Path): unknown {
  if (error instanceof AbsentValueError)
    return refusalAt(path, 'ABSENT_FIELD', `names ${error.path}, which is absent`)
  if (error instanceof RefusalError && error.details.length === 0)
    return refusalAt(path, error.code, error.message, error.cause)
  return error
}
