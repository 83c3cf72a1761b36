/** The clock of sources. */

import { realTimers, type Timers } from '@reveille/engine'
import type { SourceClock } from '@reveille/kit'

/** Maximum delay of a timer in milliseconds. A longer sleep uses several. */
const maxTimerMs = 2 ** 31 - 1

/** The real clock, with the gateway's `now`. */
export function createSourceClock(now: () => number = Date.now, timers: Timers = realTimers): SourceClock {
  function nap(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onAbort = () => {
      timers.clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = timers.setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
    return promise
  }

  return {
    now,
    async sleep(ms, signal) {
      let left = Math.max(0, Number.isNaN(ms) ? 0 : ms)
      do {
        signal.throwIfAborted()
        await nap(Math.min(left, maxTimerMs), signal)
        left -= maxTimerMs
      } while (left > 0)
    },
  }
}
