/**
 * Decides what may run on the main loop. Work that is linear in a small payload runs there; everything else runs whole
 * in an evaluator thread, which can be ended. The code for resolving is the same in both places: it announces such work
 * to its containment, and on the main loop the announcement throws.
 */

import { processorMs } from './processor-time.ts'

export interface Containment {
  /**
   * Announces work whose time is not linear in the size of the payload. @throws NeedsThread on the main loop
   */
  beginUnbounded(): void
  /**
   * Called between two steps of work. `bytes` is how much of the payload the next one may read; without it, the clock is
   * read each time. @throws NeedsThread if the main loop has been held for too long
   */
  checkTime(bytes?: number): void
}

/** Thrown on the main loop if an evaluator thread has to resolve the request from its beginning. */
export class NeedsThread extends Error {
  override readonly name = 'NeedsThread'
}

/** The containment for processes that serve one user, such as commands. It allows everything. */
export const uncontained: Containment = { beginUnbounded: () => {}, checkTime: () => {} }

/**
 * Milliseconds that one request may hold the main loop at a time. The clock is read first, and if that exceeds the limit, the processor
 * time.
 */
const mainLoopMs = 15

export interface MainLoopContainment extends Containment {
  /** Called after the request has waited, because the main loop has served others meanwhile. */
  restart(): void
}

/** Reading so many bytes takes at most 5 ms. The clock is not read more often, because that takes as long as a condition. */
const bytesBetweenClocks = 400_000

/**
 * Returns the containment for one request on the main loop. Processor time counts, because on a busy machine the clock
 * runs on while the loop has no processor.
 */
export function onMainLoop(): MainLoopContainment {
  let end = performance.now() + mainLoopMs
  let used: number | undefined
  let unclocked = 0
  return {
    restart: () => {
      end = performance.now() + mainLoopMs
      used = undefined
    },
    beginUnbounded: () => {
      throw new NeedsThread()
    },
    checkTime: (bytes = bytesBetweenClocks) => {
      unclocked += bytes
      if (unclocked < bytesBetweenClocks) return
      unclocked = 0
      if (performance.now() <= end) return
      used ??= processorMs()
      if (processorMs() - used > mainLoopMs) throw new NeedsThread()
    },
  }
}
