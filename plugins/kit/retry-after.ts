/** Owns reading the header `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3). */

/**
 * Seconds from `now`, which is milliseconds since the Unix epoch; undefined where the header is absent or says neither.
 * Fractions are taken too, since vendors send them. A date that is over is 0.
 */
export function readRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text)
  const at = text === '' ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}
