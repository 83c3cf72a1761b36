/**
 * Says what may run where. Work that is linear in a small payload runs on the gateway's main loop; everything else runs
 * whole in an evaluator thread, which can be ended. Resolving is the same code in both places: it announces such work
 * here, and on the main loop that announcement ends it.
 */

import { processorMs } from './processor-time.ts'

export interface Containment {
  /**
   * Announces work whose time is not linear in the size of the payload. @throws NeedsThread on the main loop,
   * ContainmentLimit where a thread was ended in that work before
   */
  beginUnbounded(): void
  /** Is called between two steps of work. @throws NeedsThread where the main loop has been held for too long */
  checkTime(): void
}

/** Thrown on the main loop: the request has to be resolved by an evaluator thread, from its beginning. */
export class NeedsThread extends Error {
  override readonly name = 'NeedsThread'
}

/** Thrown in an evaluator thread in place of work during which a thread had to be ended. */
export class ContainmentLimit extends Error {
  override readonly name = 'ContainmentLimit'
}

/** For processes that serve one user, such as commands: nothing is refused. */
export const uncontained: Containment = { beginUnbounded: () => {}, checkTime: () => {} }

/** How long one request may hold the main loop at a time: of the clock, and from then on of the processor. Milliseconds. */
const mainLoopMs = 15

export interface MainLoopContainment extends Containment {
  /** Is called after the request has waited, as the main loop has worked for others meanwhile. */
  restart(): void
}

/** For one request on the main loop. On a busy machine the clock runs on while the loop has no processor. */
export function onMainLoop(): MainLoopContainment {
  let end = performance.now() + mainLoopMs
  let used: number | undefined
  return {
    restart: () => {
      end = performance.now() + mainLoopMs
      used = undefined
    },
    beginUnbounded: () => {
      throw new NeedsThread()
    },
    checkTime: () => {
      if (performance.now() <= end) return
      used ??= processorMs()
      if (processorMs() - used > mainLoopMs) throw new NeedsThread()
    },
  }
}
