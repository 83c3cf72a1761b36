/** Owns one exchange that a library of Google's writes: sent by the plugin's `fetch`, bounded in time and size, read once. */

import { isPluginError, oneLine, PluginError } from '@reveille/kit'
import type { gaxios } from 'google-auth-library'

export interface ExchangeOptions {
  readonly fetch: typeof globalThis.fetch
  readonly signal: AbortSignal
  /** Who is asked, for messages: `Gmail`. */
  readonly name: string
  /** Default: 30. */
  readonly seconds?: number
  /** Of the answer, after decompression. Default: 10 MiB. */
  readonly bytes?: number
}

/** Whatever the status is. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Undefined where it is no JSON. */
  readonly json: unknown
}

/** What a library sends its request with. */
export type Adapter = NonNullable<gaxios.GaxiosOptions['adapter']>

/** An answer that holds more than it may. */
export class TooLongAnswer extends PluginError {}

/**
 * `begin` has a library write one request and send it through `adapter`. The library is told that all went well: of a
 * failure it would make a further try, or an error that holds the request with its tokens. What really came is answered.
 * @throws PluginError as `fetch` does, `network`, `unavailable` or `malformed`; the reason of the signal
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
    // A copy, because the libraries write into what they are given.
    const data = typeof json === 'object' && json !== null ? { ...json } : {}
    return Object.assign(new Response(), { config: request, data: data as never })
  }
  try {
    await begin(adapter)
  } catch (error) {
    if (outcome === undefined) throw unwritten(options.name, error)
  }
  return outcome ?? Promise.reject(unwritten(options.name, undefined))
}

/** As of an id that would lead out of its path. Before it sends, a library's message holds no credential. */
function unwritten(name: string, error: unknown): PluginError {
  const words = error instanceof Error ? ` (${oneLine(error.message, 200)})` : ''
  return new PluginError(`The request to ${name} cannot be written${words}.`, {
    code: 'bad-request',
    retryable: false,
  })
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
    const json = parseJson(await readBytes(response, bytes, name))
    return { status: response.status, headers: response.headers, json }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (limit.signal.aborted) {
      throw new PluginError(`${name} did not answer within ${seconds} seconds.`, {
        code: 'unavailable',
        retryable: true,
      })
    }
    if (isPluginError(error)) throw error
    throw new PluginError(`The answer of ${name} was cut off.`, {
      code: 'network',
      retryable: true,
      cause: error,
    })
  } finally {
    clearTimeout(timer)
  }
}

async function readBytes(response: Response, most: number, name: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > most) {
      throw new TooLongAnswer(`The answer of ${name} is longer than ${most} bytes.`, {
        code: 'malformed',
        retryable: true,
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
