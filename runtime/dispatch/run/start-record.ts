/** Owns when the start of a turn reaches the disk. */

import type { Timers } from '@reveille/engine'
import type { Claim, Effects } from '../../store/port.ts'

/** A turn that is over sooner is written once, when it ends. Milliseconds. */
const unrecordedMs = 25

/**
 * Writes the start once the turn has lasted a moment; the answered function waits for a write under way and
 * cancels one that is not. The claim is on disk before the turn starts, so a crash in that moment is still
 * seen. A write that fails is no reason to stop: the settlement will meet the same trouble and report it.
 */
export function recordStartSoon(claim: Claim, effects: Effects, timers: Timers): () => Promise<void> {
  let write: Promise<void> | undefined
  const timer = timers.setTimeout(() => {
    write = claim.checkpoint(effects).catch(() => {})
  }, unrecordedMs)
  return async () => {
    timers.clearTimeout(timer)
    await write
  }
}
