/** Owns a mapping's `vars`: computed once for each action, in order, each seeing those before it. */

import { evaluateAt } from './evaluate.ts'
import type { Program } from './program.ts'
import type { Recorder } from './recorder.ts'
import type { Scope } from './scope.ts'

/**
 * The scope with its vars. A promise only where an expression had to be waited for.
 * @throws RefusalError `EXPRESSION_FAILED`, or rejects with it
 */
export function withVars(program: Program, scope: Scope, recorder?: Recorder): Scope | Promise<Scope> {
  if (program.vars.length === 0) return scope
  return computeVars(program.vars, scope, recorder)
}

async function computeVars(vars: Program['vars'], scope: Scope, recorder?: Recorder): Promise<Scope> {
  const values: Record<string, unknown> = Object.create(null)
  const inner: Scope = { ...scope, vars: values }
  for (const { name, evaluate } of vars) {
    const value = await evaluateAt(['vars', name], evaluate, inner)
    values[name] = value
    recorder?.onVar(name, value)
  }
  return inner
}
