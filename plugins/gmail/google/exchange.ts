/**
 * Performs one request that Google's library writes: sends it by the plugin's `fetch`, bounds its time and size, and
 * reads it once.
 */

import {
  isPluginError,
  oneLine,
  PluginError,
  parseJson,
  permanentError,
  readBody,
  transientError,
} from '@reveille/kit'
import type { gaxios } from 'google-auth-library'

export interface ExchangeOptions {
  readonly fetch: typeof globalThis.fetch
  readonly signal: AbortSignal
  /** The name of the server, for messages: `Gmail`. */
  readonly name: string
  /** Default: 30. */
  readonly seconds?: number
  /** The most bytes of the answer, after decompression. Default: 10 MiB. */
  readonly bytes?: number
}

/** An answer with any status. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Undefined if the body is no JSON. */
  readonly json: unknown
}

/** The function with which a library sends its request. */
export type Adapter = NonNullable<gaxios.GaxiosOptions['adapter']>

/** The answer is longer than it may be. */
export class TooLongAnswer extends PluginError {}

/**
 * Has a library write one request, by `begin`, and sends it through `adapter`. The library is told that all went
 * well, because after a failure it would try again, or throw an error that holds the tokens. The real answer is
 * returned. @throws PluginError as `fetch` does, `network`, `unavailable` or `malformed`; the reason of the signal
 */
export async function exchange(
  options: ExchangeOptions,
  begin: (adapter: Adapter) => Promise<unknown>,
): Promise<Answer> {
  options.signal.throwIfAborted()
  let outcome: Promise<Answer> | undefined
  const adapter: Adapter = async (request) => {
    outcome = send(options, request)
    const json = await outcome.then(
      (answer) => answer.json,
      () => undefined,
    )
    // The libraries change the object that they are given, so they get a copy.
    const data = typeof json === 'object' && json !== null ? { ...json } : {}
    return Object.assign(new Response(), { config: request, data: data as never })
  }
  try {
    await begin(adapter)
  } catch (error) {
    if (outcome === undefined) throw unwritableRequest(options.name, error)
  }
  return outcome ?? Promise.reject(unwritableRequest(options.name, undefined))
}

/**
 * The library could not write the request, as for an id that would lead out of its path. At that point its message
 * holds no credential.
 */
function unwritableRequest(name: string, error: unknown): PluginError {
  const words = error instanceof Error ? ` (${oneLine(error.message, 200)})` : ''
  return permanentError('bad-request', `The request to ${name} cannot be written${words}.`)
}

async function send(options: ExchangeOptions, request: gaxios.GaxiosOptionsPrepared): Promise<Answer> {
  const { fetch, signal, name, seconds = 30, bytes = 10 * 1_048_576 } = options
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), seconds * 1000)
  try {
    const response = await fetch(request.url, {
      method: request.method ?? 'GET',
      headers: request.headers,
      body: request.body,
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
