/**
 * Owns evaluating expressions over hostile bodies while it is watched how long others have no turn. Run by tests as
 * `node hostile-run.ts BYTES`, in a process of its own: the test runner follows every promise, which makes all of this
 * four times as slow.
 */

import { type Expression, ExpressionError } from '../../resolve/program.ts'
import { createScope, type Scope } from '../../resolve/scope.ts'
import { watchTurns } from '../../resolve/watch-turns.ts'
import { compileExpression } from '../expression.ts'
import { requestOf } from '../fixture.ts'
import { hostileBodies } from './hostile-cases.ts'

/** One line of what the program writes. */
export interface Measured {
  readonly source: string
  readonly body: string
  /** Milliseconds of the processor, so that other work on the machine does not count. */
  readonly longest: number
  /** Of what may not be thrown. */
  readonly fault?: string
}

async function measure(source: string, body: string, payload: unknown): Promise<Measured> {
  const { evaluate } = compileExpression(source)
  const scope = createScope(requestOf(payload))
  // What is made once for all expressions of a request is not an expression's.
  await compileExpression('1').evaluate(scope)
  // The garbage of those before it is not an expression's either.
  globalThis.gc?.()
  await new Promise(setImmediate)
  const { result, longest } = await watchTurns(() => faultOf(evaluate, scope))
  return { source, body, longest, fault: result }
}

async function faultOf(evaluate: Expression, scope: Scope): Promise<string | undefined> {
  try {
    await evaluate(scope)
  } catch (error) {
    if (!(error instanceof ExpressionError)) return String(error)
  }
  return undefined
}

if (import.meta.main) {
  const [bytes = 0, stride = 1] = process.argv.slice(2).map(Number)
  let number = 0
  for (const make of hostileBodies(bytes)) {
    const { name, payload, sources } = make()
    for (const source of sources) {
      if (number++ % stride !== 0) continue
      process.stdout.write(`${JSON.stringify(await measure(source, name, payload))}\n`)
    }
  }
}
