/** Owns a clock for sources that stands still until it is moved, and then wakes those who slept until then. */

import type { SourceClock } from '@reveille/kit'

export interface ManualSourceClock extends SourceClock {
  /** Moves the time on, from one who wakes to the next. Settles when what they did at once is done. */
  advance(ms: number): Promise<void>
}

interface Sleeper {
  readonly at: number
  wake(): void
}

export function createManualSourceClock(start = Date.UTC(2026, 0, 15, 12)): ManualSourceClock {
  const sleepers = new Set<Sleeper>()
  let time = start

  function earliest(until: number): Sleeper | undefined {
    const due = [...sleepers].filter(({ at }) => at <= until)
    return due.sort((one, other) => one.at - other.at)[0]
  }

  return {
    now: () => time,
    sleep(ms, signal) {
      signal.throwIfAborted()
      return new Promise((resolve, reject) => {
        const sleeper: Sleeper = { at: time + Math.max(0, ms), wake: () => end(resolve) }
        const abort = () => end(() => reject(signal.reason))
        function end(settle: () => void) {
          sleepers.delete(sleeper)
          signal.removeEventListener('abort', abort)
          settle()
        }
        sleepers.add(sleeper)
        signal.addEventListener('abort', abort)
      })
    },
    async advance(ms) {
      const until = time + ms
      for (let next = earliest(until); next; next = earliest(until)) {
        time = Math.max(time, next.at)
        next.wake()
        await new Promise(setImmediate)
      }
      time = until
      await new Promise(setImmediate)
    },
  }
}
