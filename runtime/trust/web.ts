/** Fetches a small text from an https address: without redirects, within a deadline and a size limit. */

import type { Timers } from '@reveille/engine'

export interface Web {
  readonly fetch: typeof globalThis.fetch
  readonly timers: Timers
  /** Aborted to end all requests. */
  readonly signal: AbortSignal
}

const timeoutMs = 5000
const maxBytes = 256 * 1024

/**
 * Redirects are refused, because only the requested address is checked. The text is empty unless the status is 2xx.
 * @throws Error of any kind
 */
export async function getText(url: string, { fetch, timers, signal }: Web) {
  if (!isPlainHttps(url)) throw new TypeError('Only https addresses without credentials are asked.')
  const overdue = new AbortController()
  const timer = timers.setTimeout(
    () => overdue.abort(new Error(`No answer within ${timeoutMs / 1000} seconds.`)),
    timeoutMs,
  )
  try {
    const answer = await fetch(url, {
      redirect: 'error',
      credentials: 'omit',
      signal: AbortSignal.any([overdue.signal, signal]),
    })
    const { status, headers } = answer
    if (answer.ok) return { status, headers, text: await readSmall(answer) }
    await answer.body?.cancel()
    return { status, headers, text: '' }
  } finally {
    timers.clearTimeout(timer)
  }
}

function isPlainHttps(url: string): boolean {
  const parsed = URL.parse(url)
  return parsed?.protocol === 'https:' && parsed.username === '' && parsed.password === ''
}

async function readSmall({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  // An exception in the loop cancels the rest of the body.
  for await (const piece of body ?? []) {
    bytes += piece.byteLength
    if (bytes > maxBytes) throw new RangeError(`The answer has more than ${maxBytes} bytes.`)
    pieces.push(piece)
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces))
}
