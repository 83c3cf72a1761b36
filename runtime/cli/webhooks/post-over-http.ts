/** Posts to a gateway in another process, and recognises whether the answer is the gateway's. */

import { PluginError, type Posted, parseJson, readRetryAfter, recordOf } from '@reveille/kit'
import type { InternalRequest } from '../../http/index.ts'

/** How long one answer may take, which comes when the request is on disk. Milliseconds. */
const answerMs = 60_000

export interface Target {
  /** Without a slash at the end. */
  readonly address: string
  /** `hooks.path`. */
  readonly path: string
  readonly token: string
}

/** @throws PluginError `network`, retryable, unless a gateway has answered; the reason of the signal */
export function createPost(
  { address, path, token }: Target,
  fetch: typeof globalThis.fetch,
): (request: Omit<InternalRequest, 'by'>) => Promise<Posted> {
  return async ({ endpoint, body, signal }) => {
    const late = AbortSignal.timeout(answerMs)
    let response: Response
    let text: string
    try {
      response = await fetch(`${address}${path}/${endpoint}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body,
        // The token must not go to another server.
        redirect: 'manual',
        signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      })
      text = await response.text()
    } catch (cause) {
      signal?.throwIfAborted()
      const why = late.aborted
        ? `did not answer within ${answerMs / 1000} s`
        : `does not answer${reasonOf(cause)}`
      throw unreachable(`The gateway at ${address} ${why}.`, cause)
    }
    return readAnswer(response, text, address)
  }
}

/** The reason by which to find the cause, such as `ECONNREFUSED` or a fault of the certificate. */
function reasonOf(error: unknown): string {
  const { code } = (error instanceof Error && (error.cause as { readonly code?: unknown } | undefined)) || {}
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? ` (${code})` : ''
}

/**
 * A proxy may answer in the place of the gateway. Its refusals count as what they say; a success that is not
 * the gateway's own would lose what was posted.
 */
function readAnswer(response: Response, text: string, address: string): Posted {
  const { status } = response
  const { ok, outcome, code, error }: Readonly<Record<string, unknown>> = recordOf(parseJson(text)) ?? {}
  const isOurs = typeof ok === 'boolean' && ok === response.ok
  const isUnderstood = isOurs || status >= 500 || [401, 403, 404, 408, 413, 429].includes(status)
  if (!isUnderstood) throw unreachable(`What answers at ${address} with ${status} is no gateway.`)
  const retryAfter = readRetryAfter(response.headers.get('retry-after'), Date.now())
  return {
    status,
    ...(isOurs && outcome === 'ignored' && { isIgnored: true }),
    ...(typeof code === 'string' && { code }),
    ...(typeof error === 'string' && { message: error }),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

function unreachable(message: string, cause?: unknown): PluginError {
  return new PluginError(message, { code: 'network', retryable: true, cause })
}
