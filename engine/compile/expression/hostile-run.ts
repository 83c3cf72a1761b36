/**
 * Owns evaluating expressions over hostile bodies while it is watched how long others have no turn. Run by tests as
 * `node hostile-run.ts BYTES`, in a process of its own: the test runner follows every promise, which makes all of this
 * four times as slow.
 */

import { ExpressionError } from '../../resolve/program.ts'
import { createScope } from '../../resolve/scope.ts'
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
  const evaluate = compileExpression(source)
  const scope = createScope(requestOf(payload))
  // What is made once for all expressions of a request is not an expression's.
  await compileExpression('1')(scope)
  // The garbage of those before it is not an expression's either.
  globalThis.gc?.()
  await new Promise(setImmediate)
  const watch = watchTurns()
  let fault: string | undefined
  try {
    await evaluate(scope)
  } catch (error) {
    if (!(error instanceof ExpressionError)) fault = String(error)
  }
  return { source, body, longest: await watch(), fault }
}

/** Gives the longest time that passed between two turns of the event loop until it is called. */
function watchTurns(): () => Promise<number> {
  let longest = 0
  let last = used()
  let ended = false
  const look = () => {
    const now = used()
    longest = Math.max(longest, now - last)
    last = now
    if (!ended) setImmediate(look)
  }
  setImmediate(look)
  return async () => {
    await new Promise(setImmediate)
    ended = true
    await new Promise(setImmediate)
    return longest
  }
}

function used(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

if (import.meta.main) {
  const bytes = Number(process.argv[2])
  for (const make of hostileBodies(bytes)) {
    const { name, payload, sources } = make()
    for (const source of sources) {
      process.stdout.write(`${JSON.stringify(await measure(source, name, payload))}\n`)
    }
  }
}
