/**
 * Owns what Discord has said about when a route takes requests again, so that none is made that would be refused: whose
 * requests are refused 10,000 times in ten minutes is shut out by address.
 *
 * Source: discord.com/developers/docs/topics/rate-limits.
 */

export interface Pauses {
  /** Seconds until the route takes a request again; 0: it does now. */
  secondsLeft(route: string): number
  /** Reads the headers of an answer. */
  note(route: string, headers: Headers): void
}

/** A pause is over within seconds. Of more routes than this at one time, the first are forgotten, and Discord refuses. */
const mostRoutes = 1000

/** Of what Discord says, so that an odd answer closes no route for good. Seconds. */
const longestPause = 60

/** `now`: milliseconds of a clock that nobody sets. */
export function createPauses(now: () => number): Pauses {
  const ends = new Map<string, number>()

  function forgetFirst() {
    for (const [route, end] of ends) if (end <= now()) ends.delete(route)
    const [first] = ends.keys()
    if (first !== undefined && ends.size >= mostRoutes) ends.delete(first)
  }

  return {
    secondsLeft(route) {
      const left = ((ends.get(route) ?? 0) - now()) / 1000
      if (left > 0) return left
      ends.delete(route)
      return 0
    },
    note(route, headers) {
      const after = Number(headers.get('x-ratelimit-reset-after') ?? Number.NaN)
      if (headers.get('x-ratelimit-remaining') !== '0' || !(after > 0)) return
      if (ends.size >= mostRoutes) forgetFirst()
      ends.set(route, now() + Math.min(after, longestPause) * 1000)
    },
  }
}
