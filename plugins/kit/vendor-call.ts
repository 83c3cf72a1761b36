/** Calls a vendor's HTTP API, and returns a bounded answer or an error that says whether the vendor may have acted. */

import { isPluginError, PluginError, transientError } from './plugin-error.ts'
import { parseJson } from './record.ts'

/** Appends a path, which begins with a slash, to a base URL, which may end with one. */
export function joinUrl(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/+$/, '')}${path}`
}

export interface VendorCall {
  readonly url: string | URL
  /** The method. Default: `POST` with a body, and `GET` without one. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The body. An object is sent as JSON with its content type; a string or a form is sent as it is. */
  readonly body?: object | string
  readonly signal: AbortSignal
  /**
   * True if the call is the one that sends the message. A call that only looks something up or opens a conversation never fails with
   * `maybeDelivered`. Default: true, unless the method is `GET`.
   */
  readonly isDelivery?: boolean
  /** Maximum size of the answer after decompression, in bytes. Default: 1 MiB; a vendor's usual answer has a few hundred bytes. */
  readonly maxBytes?: number
}

export interface VendorAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The text parsed as JSON; undefined if it is not JSON. */
  readonly json: unknown
}

/**
 * Makes a call with the `fetch` that the plugin was given, and returns the answer whatever its status is.
 * @throws PluginError `network`, `redirected`, `bad-request` as that fetch does; `timeout` or `aborted` where the signal
 * ends the call; `unavailable` if the answer is longer than `maxBytes`
 */
export async function callVendor(fetch: typeof globalThis.fetch, call: VendorCall): Promise<VendorAnswer> {
  const { url, headers, body, signal, maxBytes = 1_048_576 } = call
  const { method = body === undefined ? 'GET' : 'POST' } = call
  const { isDelivery = method !== 'GET' } = call
  if (signal.aborted) throw abortError(signal, false)
  const isJson = typeof body === 'object' && !(body instanceof URLSearchParams)
  try {
    const response = await fetch(url, {
      method,
      headers: { ...(isJson && { 'content-type': 'application/json; charset=utf-8' }), ...headers },
      body: isJson ? JSON.stringify(body) : (body as string | URLSearchParams | undefined),
      signal,
    })
    const text = await readBody(response, maxBytes)
    if (text === undefined) {
      const facts = { maybeDelivered: true }
      throw transientError('unavailable', `The answer is longer than ${maxBytes} bytes.`, facts)
    }
    return { status: response.status, headers: response.headers, text, json: parseJson(text) }
  } catch (error) {
    if (signal.aborted) throw abortError(signal, isDelivery)
    if (!isPluginError(error)) {
      const facts = { maybeDelivered: isDelivery, cutOff: true, cause: error }
      throw transientError('network', 'The answer was cut off.', facts)
    }
    if (isDelivery || !error.maybeDelivered) throw error
    throw new PluginError(error.message, { ...error, cause: error.cause, maybeDelivered: false })
  }
}

function abortError(signal: AbortSignal, maybeDelivered: boolean): PluginError {
  const isTimeout = (signal.reason as Error | undefined)?.name === 'TimeoutError'
  return transientError(
    isTimeout ? 'timeout' : 'aborted',
    isTimeout ? 'The service did not answer in time.' : 'The call was called off.',
    { maybeDelivered },
  )
}

/** Reads the body of an answer as UTF-8, or returns undefined if it is longer than so many bytes after decompression. */
export async function readBody(response: Response, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
