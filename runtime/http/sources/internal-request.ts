/** Makes requests for the sources of this process: they pass through no socket, and are otherwise treated like all others. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Snapshot } from '@reveille/engine'
import type { Posted, PostLimits } from '@reveille/kit'
import type { Response as InjectedResponse } from 'light-my-request'
import type { RequestRecord } from '../../store/port.ts'
import { maxBytesFor } from '../body/decode.ts'

export interface InternalRequest {
  readonly endpoint: string
  /** JSON. */
  readonly body: string
  /** Who makes the request, which is shown as its client: `source tides`. */
  readonly by: string
  /** Headers of what the source asked for, with names in lower case, beside those of every internal request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly authenticatedBy?: RequestRecord['authenticatedBy']
  /** Aborting it drops the reply; the request may have been accepted by then. */
  readonly signal?: AbortSignal
}

export interface PostedInternally extends Posted {
  /** Everything in it was there before, by the keys of its actions. */
  readonly isDuplicate?: true
}

/** Resolves with the reply, refusals included. @throws the reason of the signal; an error where no reply came */
export type PostInternally = (request: InternalRequest) => Promise<PostedInternally>

/** The limits of one request to this endpoint in the current configuration. */
export function postLimitsOf(snapshot: Snapshot, endpoint: string): PostLimits {
  const { maxActions, maxRenderedBytes } = { ...snapshot.settings.hooks, ...snapshot.policyOf(endpoint) }
  return { maxBodyBytes: maxBytesFor(snapshot, endpoint), maxActions, maxRenderedBytes }
}

/**
 * `receive` is where an internal request comes in. That it was called is what authenticates the request: nothing that a request
 * holds could do so.
 */
export function createInternalPost(
  receive: (request: InternalRequest, incoming: IncomingMessage, outgoing: ServerResponse) => void,
): PostInternally {
  return async function post(request) {
    const { body, signal } = request
    signal?.throwIfAborted()
    // Most gateways have no source, so the library is loaded with the first request.
    const { default: inject } = await import('light-my-request')
    signal?.throwIfAborted()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    let sent: IncomingMessage | undefined
    const onAbort = () => {
      sent?.destroy()
      reject(signal?.reason)
    }
    const all = { ...request.headers, ...headers }
    const options = { method: 'POST', url: '/', headers: all, payload: body } as const
    const response = inject((incoming, outgoing) => {
      sent = incoming as unknown as IncomingMessage
      // The library makes up a host, and the request was sent to none.
      delete sent.headers.host
      receive(request, sent, outgoing as unknown as ServerResponse)
    }, options)
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return postedOf(await Promise.race([response, aborted]))
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }
}

const headers = { 'content-type': 'application/json', 'user-agent': 'reveille' } as const

function postedOf({ statusCode: status, headers, payload }: InjectedResponse): PostedInternally {
  if (status === 204) return { status }
  const { outcome, code, error: message } = JSON.parse(payload)
  if (status < 400)
    return {
      status,
      ...(outcome === 'ignored' && { isIgnored: true }),
      ...(outcome === 'duplicate' && { isDuplicate: true }),
    }
  const retryAfter = headers['retry-after']
  return { status, code, message, ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }) }
}
