/**
 * Says what may run where. Work that is linear in a small payload runs on the gateway's main loop; everything else runs
 * whole in an evaluator thread, which can be ended. Resolving is the same code in both places: it announces such work
 * here, and on the main loop that announcement ends it.
 */

/** Work whose time is not linear in the size of the payload. */
export type UnboundedWork = 'expression' | 'schema' | 'template' | 'pattern' | 'text'

export interface Containment {
  /** Announces work that may take long. @throws NeedsThread on the main loop, ContainmentLimit where a thread was ended in it before */
  begin(work: UnboundedWork): void
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
export const uncontained: Containment = { begin: () => {}, checkTime: () => {} }

/** How long one request may hold the main loop. Milliseconds. */
const mainLoopMs = 20

/** For one request on the main loop. */
export function onMainLoop(): Containment {
  const end = performance.now() + mainLoopMs
  return {
    begin: () => {
      throw new NeedsThread()
    },
    checkTime: () => {
      if (performance.now() > end) throw new NeedsThread()
    },
  }
}
