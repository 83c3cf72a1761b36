/** Owns reading the header `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3). */

/** Seconds from `now`, which is milliseconds since the Unix epoch. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const at = text === '' ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}
