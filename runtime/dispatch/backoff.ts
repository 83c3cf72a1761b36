/** Owns how long to wait before the next try. */

export interface Backoff {
  /** The wait after the first failure, before jitter. Milliseconds. */
  readonly firstMs: number
  readonly mostMs: number
}

/** A vendor that asks for more patience than this is asked again after it. Milliseconds. */
const longestRetryAfterMs = 3_600_000

/** Doubles with each failure; the upper half of it is jitter, so that a crowd spreads out. */
export function backoffMs(failures: number, backoff: Backoff, random: () => number): number {
  const ceiling = Math.min(backoff.mostMs, backoff.firstMs * 2 ** (failures - 1))
  return Math.round(ceiling * (0.5 + random() / 2))
}

/**
 * What the vendor asked for wins over our own backoff, unless it asked for nothing: a vendor that says 0 would use up
 * all attempts in a moment. Whole milliseconds, because vendors ask for fractions and due times have none.
 */
export function retryDelayMs(
  failure: { readonly retryAfterMs?: number },
  failures: number,
  backoff: Backoff,
  random: () => number,
): number {
  const { retryAfterMs = 0 } = failure
  if (retryAfterMs > 0) return Math.ceil(Math.min(retryAfterMs, longestRetryAfterMs))
  return backoffMs(failures, backoff, random)
}
