/** Owns giving back what starting took of memory. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** V8 lets go of code that ran once, and of pages that became empty, only in the collections after the first. */
const rounds = 4
const roundEveryMs = 250

/**
 * Schemas, parsers and modules leave garbage behind that V8 would keep until the heap is full, and a young generation
 * that grew for them. A few thorough collections right after the start give back about 25 MB; nothing is asked of
 * them, so where they are not to be had, nothing is lost. Each takes some 30 ms of the event loop.
 */
export function releaseMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  if (typeof collect !== 'function') return
  let left = rounds
  const collectAgain = () => {
    collect({ type: 'major', flavor: 'last-resort' })
    left -= 1
    if (left > 0) setTimeout(collectAgain, roundEveryMs).unref()
  }
  collectAgain()
}
