/** Owns how long to wait before the next try. */

import { hourMs, minuteMs, secondMs } from '../durations.ts'

export interface Backoff {
  /** The wait after the first failure, before jitter. Milliseconds. */
  readonly firstMs: number
  readonly mostMs: number
}

/** Of calls, and of posts. */
export const usualBackoff: Backoff = { firstMs: secondMs, mostMs: 5 * minuteMs }

/** Whoever asks for more patience is asked again after it. */
const longestRetryAfterMs = hourMs

/**
 * Doubles with each failure; jitter takes up to half of it. What the other side asked for wins, unless it asked for
 * nothing: then everything would be tried in a moment. `retryAfter` is in seconds.
 */
export function waitMs(failures: number, backoff: Backoff, random: () => number, retryAfter = 0): number {
  if (retryAfter > 0) return Math.ceil(Math.min(retryAfter * secondMs, longestRetryAfterMs))
  const ceiling = Math.min(backoff.mostMs, backoff.firstMs * 2 ** (failures - 1))
  return Math.round(ceiling * (0.5 + random() / 2))
}
