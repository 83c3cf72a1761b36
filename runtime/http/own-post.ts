/** Owns requests that a source of this process makes: they pass through no socket, and else fare like any other. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Snapshot } from '@reveille/engine'
import type { Posted, PostLimits } from '@reveille/kit'
import { maxBytesFor } from './body/decode.ts'

export interface OwnRequest {
  readonly endpoint: string
  /** JSON. */
  readonly body: string
  /** Who makes it, told as its client: `source gmail`. */
  readonly by: string
  /** Once it is aborted, nobody hears of the answer; what was read by then may have been accepted. */
  readonly signal?: AbortSignal
}

/** Resolves with the answer, refusals too. @throws the reason of the signal; an error where no answer came */
export type OwnPost = (request: OwnRequest) => Promise<Posted>

/** What one of them may hold, by the configuration of now. */
export function postLimitsOf(snapshot: Snapshot, endpoint: string): PostLimits {
  const { maxActions, maxRenderedBytes } = { ...snapshot.settings.hooks, ...snapshot.policyOf(endpoint) }
  return { maxBodyBytes: maxBytesFor(snapshot, endpoint), maxActions, maxRenderedBytes }
}

/** `take`: where such a request comes in. That it was called is the whole proof: nothing in a request could be one. */
export function createOwnPost(
  take: (request: OwnRequest, incoming: IncomingMessage, outgoing: ServerResponse) => void,
): OwnPost {
  return async function post(request) {
    const { body, signal } = request
    signal?.throwIfAborted()
    // Most gateways have no source.
    const { inject } = await import('light-my-request')
    signal?.throwIfAborted()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    let sent: IncomingMessage | undefined
    const onAbort = () => {
      sent?.destroy()
      reject(signal?.reason)
    }
    const options = { method: 'POST', url: '/', headers, payload: body } as const
    const answered = inject((incoming, outgoing) => {
      sent = incoming as unknown as IncomingMessage
      // There is no host that it was sent to.
      delete sent.headers.host
      take(request, sent, outgoing as unknown as ServerResponse)
    }, options)
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return postedOf(await Promise.race([answered, aborted]))
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }
}

const headers = { 'content-type': 'application/json', 'user-agent': 'reveille' } as const

interface Answer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly payload: string
}

function postedOf({ statusCode: status, headers, payload }: Answer): Posted {
  if (status === 204) return { status }
  const { outcome, code, error: message } = JSON.parse(payload)
  if (status < 400) return { status, ...(outcome === 'ignored' && { isIgnored: true }) }
  const retryAfter = headers['retry-after']
  return { status, code, message, ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }) }
}
