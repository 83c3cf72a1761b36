/**
 * Remembers when Discord takes requests to a route again, so that no request is made that Discord would refuse. It blocks
 * the address of a client that it has refused 10,000 times in ten minutes.
 *
 * Source: discord.com/developers/docs/topics/rate-limits.
 */

import { BoundedMap } from '@reveille/kit'

/** Maximum number of routes remembered. Beyond these the oldest are forgotten, and Discord itself refuses. */
const maxRoutes = 1000

/** Maximum pause in seconds, so that an odd response does not block a route permanently. */
const maxPauseSeconds = 60

/** Creates the memory of one bot's pauses. `now` is a monotonic clock in milliseconds. */
export function createPauses(now: () => number) {
  const ends = new BoundedMap<string, number>(maxRoutes)

  return {
    /** Returns the seconds until the route takes a request again, or 0 if it takes one now. */
    secondsLeft(route: string): number {
      return Math.max(0, ((ends.get(route) ?? 0) - now()) / 1000)
    },
    /** Remembers what the headers of an answer say about the route. */
    note(route: string, headers: Headers) {
      const after = Number(headers.get('x-ratelimit-reset-after') ?? Number.NaN)
      if (headers.get('x-ratelimit-remaining') !== '0' || !(after > 0)) return
      ends.set(route, now() + Math.min(after, maxPauseSeconds) * 1000)
    },
  }
}
