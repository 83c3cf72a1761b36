/** The clock of sources. */

import { realTimers, type Timers } from '@reveille/engine'
import type { SourceClock } from '@reveille/kit'
import { pause } from '../pause.ts'

/** Maximum delay of a timer in milliseconds. A longer sleep uses several. */
const maxTimerMs = 2 ** 31 - 1

/** The real clock, with the gateway's `now`. */
export function createSourceClock(now: () => number = Date.now, timers: Timers = realTimers): SourceClock {
  return {
    now,
    async sleep(ms, signal) {
      let left = Math.max(0, Number.isNaN(ms) ? 0 : ms)
      do {
        signal.throwIfAborted()
        // A source that sleeps for no time lets others work.
        await pause(Math.min(Math.max(left, 1), maxTimerMs), [signal], timers)
        left -= maxTimerMs
      } while (left > 0)
      signal.throwIfAborted()
    },
  }
}
