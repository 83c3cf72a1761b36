/** Owns a clock that runs a hundred times as fast as the world: what waits for seconds is asked about in a test. */

import type { SourceClock } from '../source.ts'

export interface QuickClock extends SourceClock {
  /** Who sleeps. */
  readonly sleeping: number
  /** Nobody sleeps any more, and none of their sleeps ends. */
  close(): void
}

const speed = 100

export function createQuickClock(): QuickClock {
  const begun = Date.now()
  const timers = new Set<NodeJS.Timeout>()
  return {
    now: () => begun + (Date.now() - begun) * speed,
    get sleeping() {
      return timers.size
    },
    async sleep(ms, signal) {
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const turnOut = () => reject(signal.reason)
      const timer = setTimeout(resolve, Math.min(ms / speed, 2 ** 31 - 1))
      timers.add(timer)
      signal.addEventListener('abort', turnOut)
      try {
        await promise
      } finally {
        clearTimeout(timer)
        timers.delete(timer)
        signal.removeEventListener('abort', turnOut)
      }
    },
    close() {
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
    },
  }
}
