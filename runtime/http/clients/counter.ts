/** Owns counting: how often a key came within a time, for a bounded number of keys. */

import type { Rate } from '@reveille/engine'
// The package's index would load the drivers of thirty databases.
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'

export interface Counter {
  /** Counts one more time, at once; answers seconds to wait where that is more often than the rate allows. */
  count(key: string, rate: Rate): Promise<number | undefined>
  /** What would be answered if it were counted once more. Undefined: the key is on no record. */
  ask(key: string, rate: Rate): Promise<number | undefined> | undefined
  forget(key: string): void
  /** Whether no key is on record. */
  isEmpty(): boolean
}

/**
 * A key's time begins when it first comes and is over at its end, however often it came. The library keeps a record and
 * a timer for each key and as many of them as there are: so beyond `mostKeys`, the one that has not come for the longest
 * time is forgotten.
 */
export function createCounter(mostKeys: number): Counter {
  // Every call says its own time; what is allowed in it is compared here.
  const limiter = new RateLimiterMemory({ points: 0, duration: 0, keyPrefix: '' })
  /** Those that may be on record, in the order in which they last came. */
  const keys = new Set<string>()
  /** Whatever it has passed is gone; begun anew, it would walk over the places of all that went since. */
  const oldestFirst = keys.values()

  function touch(key: string): void {
    keys.delete(key)
    keys.add(key)
    if (keys.size > mostKeys) forget(oldestFirst.next().value as string)
  }

  function forget(key: string): void {
    if (keys.delete(key)) void limiter.delete(key)
  }

  return {
    async count(key, rate) {
      touch(key)
      const { consumedPoints, msBeforeNext } = await limiter.penalty(key, 1, {
        customDuration: rate.windowMs / 1000,
      })
      return consumedPoints > rate.most ? secondsOf(msBeforeNext, rate) : undefined
    },
    ask(key, rate) {
      if (!keys.has(key)) return undefined
      return limiter
        .get(key)
        .then((found) =>
          found !== null && found.consumedPoints >= rate.most && found.msBeforeNext > 0
            ? secondsOf(found.msBeforeNext, rate)
            : undefined,
        )
    },
    forget,
    isEmpty: () => keys.size === 0,
  }
}

/** The library reckons by the time of day, which may be set back meanwhile; it forgets by a timer, which is not. */
function secondsOf(msBeforeNext: number, { windowMs }: Rate): number {
  return Math.max(1, Math.ceil(Math.min(msBeforeNext, windowMs) / 1000))
}
