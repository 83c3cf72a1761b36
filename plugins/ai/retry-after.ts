/** Owns how long a vendor asks us to wait, in each way that vendors say it. */

/**
 * Seconds from `now`. `retry-after-ms` is OpenAI's and Azure's, `Retry-After` is RFC 9110's (seconds or a date), and
 * Gemini sends no header but google.rpc.RetryInfo, `retryDelay: "36s"`, in the error's details.
 */
export function readRetryAfter(
  headers: Readonly<Record<string, string | undefined>>,
  details: readonly unknown[],
  now: number,
): number | undefined {
  const milliseconds = amountOf(headers['retry-after-ms'])
  if (milliseconds !== undefined) return milliseconds / 1000
  const text = headers['retry-after']?.trim()
  const seconds = amountOf(text)
  if (seconds !== undefined) return seconds
  const date = text === undefined || text === '' ? Number.NaN : Date.parse(text)
  if (!Number.isNaN(date)) return Math.max(0, Math.ceil((date - now) / 1000))
  for (const detail of details) {
    const delay = (detail as { retryDelay?: unknown } | null)?.retryDelay
    if (typeof delay === 'string' && delay.endsWith('s')) return amountOf(delay.slice(0, -1))
  }
  return undefined
}

function amountOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}
