/** Makes requests for the sources of this process without a socket. They are otherwise handled like all others. */

import type { Snapshot } from '@reveille/engine'
import type { Posted, PostLimits } from '@reveille/kit'
import type { RequestRecord } from '../../store/port.ts'
import { maxBytesFor } from '../body/decode.ts'
import { type HookDependencies, receiveInternally } from '../dependencies.ts'
import { errorDefinition } from '../errors.ts'
import { statusOfOutcome } from '../record/entry.ts'
import type { RequestOutcome } from '../request-context.ts'

export interface InternalRequest {
  readonly endpoint: string
  /** JSON. */
  readonly body: string
  /** Maker of the request, shown as its client: `source tides`. */
  readonly client: string
  /** Headers to add to those of every internal request, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly authenticatedBy?: RequestRecord['authenticatedBy']
  /** Aborting it drops the reply; the request may have been accepted by then. */
  readonly signal?: AbortSignal
}

export interface InternalReply extends Posted {
  /** All its actions are duplicates. */
  readonly isDuplicate?: true
}

/** Resolves with the reply, refusals included. @throws the reason of the signal; an error where no reply came */
export type PostInternally = (request: InternalRequest) => Promise<InternalReply>

/** The limits of one request to this endpoint in the current configuration. */
export function postLimitsOf(snapshot: Snapshot, endpoint: string): PostLimits {
  const { maxActions, maxRenderedBytes } = { ...snapshot.settings.hooks, ...snapshot.policyOf(endpoint) }
  return { maxBodyBytes: maxBytesFor(snapshot, endpoint), maxActions, maxRenderedBytes }
}

/** The request enters the pipeline after authentication. Only this function can do that; no content of a request can. */
export function createInternalPost(dependencies: HookDependencies): PostInternally {
  async function perform({ endpoint, body, client, authenticatedBy, ...request }: InternalRequest) {
    const headers = { ...request.headers, ...ownHeaders }
    const facts = { headers, client, requestId: dependencies.mintId(), endpoint, query: '' }
    const by = authenticatedBy && { authenticatedBy }
    return (await receiveInternally(dependencies, { ...facts, ...by }, Buffer.from(body))).result
  }

  return async function post(request) {
    const { signal } = request
    signal?.throwIfAborted()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const onAbort = () => reject(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return postedOf(await Promise.race([perform(request), aborted]))
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }
}

const ownHeaders = { 'content-type': 'application/json', 'user-agent': 'reveille' } as const

function postedOf(result: RequestOutcome): InternalReply {
  const status = statusOfOutcome(result)
  if ('code' in result) {
    const { code, sentence: message = errorDefinition(code).sentence } = result
    const retryAfter = result.retryAfter ?? errorDefinition(code).retryAfter
    return { status, code, message, ...(retryAfter !== undefined && { retryAfter }) }
  }
  return {
    status,
    ...(result.outcome === 'ignored' && { isIgnored: true }),
    ...(result.outcome === 'duplicate' && { isDuplicate: true }),
  }
}
