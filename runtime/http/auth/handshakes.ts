/** Answers the handshakes by which providers check an endpoint before they send events to it. */

import {
  type Fields,
  type Handshake,
  type HandshakeRequest,
  parseFields,
  type Timers,
  UnavailableError,
} from '@reveille/engine'
import { type Decoded, decodeFor, maxBytesFor } from '../body/decode.ts'
import { decompress } from '../body/decompress.ts'
import { readBody } from '../body/read-body.ts'
import type { Throttle } from '../clients/throttle.ts'
import { RequestError } from '../errors.ts'
import { type Refused, type RequestContext, type RequestOutcome, refused } from '../request-context.ts'
import type { EndpointAuth } from './endpoint-auth.ts'
import { overRate, type RejectUnauthenticated } from './reject.ts'

export interface HandshakesOptions {
  readonly throttle: Pick<Throttle, 'takeOfClient'>
  readonly rejectUnauthenticated: RejectUnauthenticated
  /**
   * Does what a handshake asks for besides its reply, and resolves when the reply may be sent. `policy` is the policy whose
   * `verify` answered the handshake.
   */
  readonly performHandshakeEffects: (policy: string, handshake: Handshake, client: string) => Promise<void>
  readonly timers: Timers
}

type Received = Pick<HandshakeRequest, 'query' | 'isTrusted' | 'payload'>

/** How much of the body of an unauthenticated sender is read. Bytes. */
const maxOfStranger = 16_384

export function createHandshakes(options: HandshakesOptions) {
  const { throttle, rejectUnauthenticated, performHandshakeEffects, timers } = options

  /**
   * Answers a sender that is authenticated or need not be. Resolves with undefined for anything but a handshake. A handshake that
   * shows another secret than the configured one is a wrong try, and gets the reply of its provider.
   */
  async function ofSender(
    context: RequestContext,
    { verify }: EndpointAuth,
    received: Received,
  ): Promise<RequestOutcome | undefined> {
    const { method = '', headers } = context.incoming
    const handshake = verify?.value.handshakes?.answer({ method, headers, ...received })
    if (verify === undefined || handshake === undefined) return undefined
    if (handshake.status >= 400) {
      const failure = { failure: 'HANDSHAKE_WRONG', reason: handshake.reason } as const
      const refusal = await rejectUnauthenticated(context, failure)
      return refusal.code === 'UNAUTHORIZED' ? { ...refusal, handshake } : refusal
    }
    try {
      await performHandshakeEffects(verify.policy, handshake, context.client)
    } catch (error) {
      if (error instanceof UnavailableError) return { ...refused('HANDSHAKE_UNAVAILABLE'), fault: error }
      throw error
    }
    return { outcome: 'handshake', handshake }
  }

  /** A body that cannot be read is undefined too, as it holds no handshake. */
  async function payloadOfStranger(context: RequestContext, endpoint: string): Promise<unknown> {
    const { incoming, outgoing, live } = context
    const { snapshot } = live
    const maxBytes = Math.min(maxOfStranger, maxBytesFor(snapshot, endpoint))
    const limits = { maxBytes, timeoutMs: snapshot.settings.hooks.bodyTimeoutMs, timers }
    try {
      const sent = await readBody(incoming, outgoing, limits)
      context.body = sent
      const { 'content-encoding': encoding, 'content-type': type } = incoming.headers
      const body = encoding === undefined ? sent : await decompress(sent, encoding, maxBytes)
      return payloadIn(endpoint, body, type)
    } catch (error) {
      if (error instanceof RequestError && error.code !== 'BODY_TIMEOUT') return undefined
      throw error
    }
  }

  return {
    ofSender,
    /** Answers a request with another method than POST, which is a handshake or is refused. */
    async ofMethod(context: RequestContext, endpointAuth: EndpointAuth): Promise<RequestOutcome> {
      const { incoming, client, query } = context
      const { rate, verify } = endpointAuth
      const methods = verify?.value.handshakes?.methods ?? []
      if (!methods.includes(incoming.method ?? '')) return refused('METHOD_NOT_ALLOWED')
      const limited = await overRate(throttle.takeOfClient(client, rate), 'client', rate)
      if (limited) return limited
      const received = { query: parseFields(query), payload: undefined, isTrusted: false }
      return (await ofSender(context, endpointAuth, received)) ?? refused('METHOD_NOT_ALLOWED')
    },
    /** Answers a sender that is not authenticated. Anything but a handshake that its provider sends unsigned ends with `refusal`. */
    async ofStranger(
      context: RequestContext,
      endpointAuth: EndpointAuth,
      query: Readonly<Fields>,
      refusal: Refused,
    ): Promise<RequestOutcome> {
      const { endpoint } = context
      if (endpoint === undefined || !endpointAuth.verify?.value.handshakes?.unsigned) return refusal
      const payload = await payloadOfStranger(context, endpoint)
      return (await ofSender(context, endpointAuth, { query, payload, isTrusted: false })) ?? refusal
    },
  }
}

/** The JSON in a body, as a handshake may hold it, or undefined. The request pipeline reports what is wrong with a body. */
export function payloadIn(endpoint: string, body: Buffer, contentType: string | undefined): unknown {
  return payloadOf(body, () => decodeFor(endpoint, body, contentType))
}

/** The same for a body that the request pipeline decodes as well. @throws what `decode` throws, unless it is a RequestError */
export function payloadOf(body: Buffer, decode: () => Decoded): unknown {
  if (body.length === 0) return undefined
  try {
    const { payload, isForm } = decode()
    return isForm ? undefined : payload
  } catch (error) {
    if (error instanceof RequestError) return undefined
    throw error
  }
}
