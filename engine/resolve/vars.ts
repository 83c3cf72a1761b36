/** Owns a mapping's `vars`: computed once for each action, in order, each seeing those before it. */

import { evaluateAt } from './evaluate.ts'
import type { Program } from './program.ts'
import type { Recorder } from './recorder.ts'
import type { Scope } from './scope.ts'

/** The scope with its vars. @throws RefusalError `EXPRESSION_FAILED` */
export async function withVars(program: Program, scope: Scope, recorder?: Recorder): Promise<Scope> {
  const values: Record<string, unknown> = Object.create(null)
  const inner: Scope = { ...scope, vars: values }
  for (const { name, evaluate } of program.vars) {
    const value = await evaluateAt(['vars', name], evaluate, inner)
    values[name] = value
    recorder?.onVar(name, value)
  }
  return inner
}
