/** Provides Google's time. */

export interface GoogleClock {
  now(): number
  advance(ms: number): void
}

/**
 * Stands still at `start` and moves by `advance`. Without `start` it runs like the real clock, ahead by what it was
 * advanced.
 */
export function createClock(start?: number): GoogleClock {
  let ahead = 0
  return {
    now: () => (start ?? Date.now()) + ahead,
    advance(ms) {
      ahead += ms
    },
  }
}
