/** Decides how long to wait before a retry. */

export interface Backoff {
  /** The wait in milliseconds after the first failure, before jitter. */
  readonly firstMs: number
  readonly maxMs: number
  /** The range of the wait, as parts of it, from which jitter picks, so that many callers spread out. Default: its upper half. */
  readonly jitter?: readonly [least: number, most: number]
}

/** Maximum wait in milliseconds that a vendor is granted if no deadline is shorter. */
export const maxRetryAfterMs = 3_600_000

/** Returns the wait after so many failures, which doubles with each of them. */
export function backoffMs(failures: number, backoff: Backoff, random: () => number): number {
  const { firstMs, maxMs, jitter: [minFactor, maxFactor] = [0.5, 1] } = backoff
  const ceiling = Math.min(maxMs, firstMs * 2 ** (failures - 1))
  return Math.min(maxMs, Math.round(ceiling * (minFactor + random() * (maxFactor - minFactor))))
}

/**
 * Returns the wait that the vendor asked for, or else our own backoff. A wait of 0 is ignored, because it would use up all
 * attempts at once. The result is in whole milliseconds, since vendors ask for fractions and due times have none.
 */
export function retryDelayMs(
  failure: { readonly retryAfterMs?: number },
  failures: number,
  backoff: Backoff,
  random: () => number,
  maxWaitMs = maxRetryAfterMs,
): number {
  const { retryAfterMs = 0 } = failure
  if (retryAfterMs > 0) return Math.ceil(Math.min(retryAfterMs, maxWaitMs))
  return backoffMs(failures, backoff, random)
}

/**
 * Reads the header `Retry-After`, which holds seconds or a date (RFC 9110, section 10.2.3), as seconds from `now`, which is in
 * milliseconds since the Unix epoch. Returns undefined if the header is absent or holds neither. Fractions are read too, since
 * vendors send them. A date in the past is 0.
 */
export function readRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text)
  const at = text === '' ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}
