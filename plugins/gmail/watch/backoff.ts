/** Owns how long to wait before the next try. */

import { type Backoff, retryDelayMs } from '@reveille/kit'
import { minuteMs, secondMs } from '../durations.ts'

/** Of calls, and of posts. */
export const usualBackoff: Backoff = { firstMs: secondMs, mostMs: 5 * minuteMs }

/** `retryAfter`, in seconds, is what the other side asked for. */
export function waitMs(failures: number, backoff: Backoff, random: () => number, retryAfter = 0): number {
  return retryDelayMs({ retryAfterMs: retryAfter * secondMs }, failures, backoff, random)
}
