/** Owns how long to wait before the next try. */

export interface Backoff {
  /** The wait after the first failure, before jitter. Milliseconds. */
  readonly firstMs: number
  readonly mostMs: number
  /** The parts of the doubled wait that jitter picks from, so that a crowd spreads out. Default: its upper half. */
  readonly jitter?: readonly [least: number, most: number]
}

/** A vendor that asks for more patience than this is asked again after it, where no deadline says otherwise. Milliseconds. */
export const longestRetryAfterMs = 3_600_000

/** Doubles with each failure. */
export function backoffMs(failures: number, backoff: Backoff, random: () => number): number {
  const { firstMs, mostMs, jitter: [least, most] = [0.5, 1] } = backoff
  const ceiling = Math.min(mostMs, firstMs * 2 ** (failures - 1))
  return Math.min(mostMs, Math.round(ceiling * (least + random() * (most - least))))
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
  mostRetryAfterMs = longestRetryAfterMs,
): number {
  const { retryAfterMs = 0 } = failure
  if (retryAfterMs > 0) return Math.ceil(Math.min(retryAfterMs, mostRetryAfterMs))
  return backoffMs(failures, backoff, random)
}
