/** Owns how long a vendor asks us to wait, in each way that vendors say it. */

import { readRetryAfter } from '@reveille/kit'
import type { VendorError } from './vendor-error.ts'

/**
 * Seconds from `now`. `retry-after-ms` is OpenAI's and Azure's, and Gemini sends no header but google.rpc.RetryInfo,
 * `retryDelay: "36s"`, in the error's details.
 */
export function retryAfterOf({ headers, details }: VendorError, now: number): number | undefined {
  const milliseconds = amountOf(headers['retry-after-ms'])
  if (milliseconds !== undefined) return milliseconds / 1000
  const seconds = readRetryAfter(headers['retry-after'], now)
  if (seconds !== undefined) return seconds
  for (const detail of details) {
    const delay = (detail as { retryDelay?: unknown } | null)?.retryDelay
    if (typeof delay === 'string' && delay.endsWith('s')) return amountOf(delay.slice(0, -1))
  }
  return undefined
}

function amountOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}
