/** Owns the clock that sources live by. */

import { setTimeout as timeout } from 'node:timers/promises'
import type { SourceClock } from '@reveille/kit'

/** A timer takes no more; a longer sleep is several. Milliseconds. */
const longestTimerMs = 2 ** 31 - 1

/** The real one; `now` is the gateway's. */
export function createSourceClock(now: () => number = Date.now): SourceClock {
  return {
    now,
    async sleep(ms, signal) {
      let left = Number.isNaN(ms) ? 0 : ms
      do {
        signal.throwIfAborted()
        const step = Math.min(Math.max(left, 0), longestTimerMs)
        await timeout(step, undefined, { signal }).catch(() => signal.throwIfAborted())
        left -= step
      } while (left > 0)
    },
  }
}
