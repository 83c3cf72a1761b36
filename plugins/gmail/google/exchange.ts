/** Sends one request to Google by the plugin's `fetch`, and bounds the time and the size of the answer. */

import {
  isPluginError,
  PluginError,
  parseJson,
  permanentError,
  readBody,
  transientError,
} from '@reveille/kit'

export interface ExchangeOptions {
  readonly fetch: typeof globalThis.fetch
  readonly signal: AbortSignal
  /** The name of the server, for messages: `Gmail`. */
  readonly name: string
  /** Default: 30. */
  readonly seconds?: number
  /** Maximum size of the answer, in bytes, after decompression. Default: 10 MiB. */
  readonly bytes?: number
}

/** An answer with any status. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Undefined if the body is no JSON. */
  readonly json: unknown
}

/** A request. An object as body is sent as JSON. */
export interface Request {
  readonly url: string
  readonly method?: 'GET' | 'POST'
  readonly token?: string
  readonly body?: object | URLSearchParams
}

/** The answer is longer than it may be. */
export class TooLongAnswer extends PluginError {}

/** Sends one request, and reads the answer. @throws PluginError as `fetch` does, `network`, `unavailable` or `malformed`; the reason of the signal */
export async function exchange(options: ExchangeOptions, request: Request): Promise<Answer> {
  const { fetch, signal, name, seconds = 30, bytes = 10 * 1_048_576 } = options
  const { url, method = 'GET', token, body } = request
  signal.throwIfAborted()
  // A name that is `..` would lead to another path.
  if (/\/\.{1,2}(?=[/?]|$)/.test(url))
    throw permanentError('bad-request', `The request to ${name} cannot be written.`)
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), seconds * 1000)
  const isForm = body instanceof URLSearchParams
  try {
    const response = await fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.any([signal, limit.signal]),
    })
    const text = await readBody(response, bytes)
    if (text !== undefined)
      return { status: response.status, headers: response.headers, json: parseJson(text) }
    throw new TooLongAnswer(`The answer of ${name} is longer than ${bytes} bytes.`, {
      code: 'malformed',
      retryable: true,
    })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (limit.signal.aborted) {
      throw transientError('unavailable', `${name} did not answer within ${seconds} seconds.`)
    }
    if (isPluginError(error)) throw error
    throw transientError('network', `The answer of ${name} was cut off.`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}
