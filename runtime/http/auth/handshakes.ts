/** Answers the handshakes by which providers check an endpoint before they send events to it. */

import {
  type Fields,
  type Handshake,
  type HandshakeRequest,
  parseFields,
  UnavailableError,
} from '@reveille/engine'
import { type Decoded, decodedIfReadable, decodeFor } from '../body/decode.ts'
import { decompress } from '../body/decompress.ts'
import type { Throttle } from '../clients/throttle.ts'
import { RequestError } from '../errors.ts'
import { type Concluded, type RequestContext, refused } from '../request-context.ts'
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
}

type HandshakeOutcome = Exclude<Concluded['outcome'], { readonly outcome: 'accepted' }>
type Received = Pick<HandshakeRequest, 'query' | 'isTrusted' | 'payload'>

interface UnauthenticatedHandshake {
  readonly facts: RequestContext
  readonly endpoint: string
  readonly endpointAuth: EndpointAuth
  readonly query: Readonly<Fields>
  readonly maxBytes: number
}

/** Maximum bytes read of the body of an unauthenticated sender. */
export const maxUnauthenticatedBytes = 16_384

export function createHandshakes(options: HandshakesOptions) {
  const { throttle, rejectUnauthenticated, performHandshakeEffects } = options

  /**
   * Answers a sender that is authenticated or need not be. Resolves with undefined for anything but a handshake. A handshake that
   * shows another secret than the configured one is a wrong try, and gets the reply of its provider.
   */
  async function ofSender(
    context: RequestContext,
    { verify }: EndpointAuth,
    received: Received,
  ): Promise<HandshakeOutcome | undefined> {
    const { headers } = context
    const { method = '' } = context.incoming
    const handshake = verify?.value.handshakes?.answer({ method, headers, ...received })
    if (verify === undefined || handshake === undefined) return undefined
    if (handshake.status >= 400) {
      const failure = { failure: 'HANDSHAKE_WRONG', reason: handshake.reason } as const
      const refusal = rejectUnauthenticated(context, failure)
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

  return {
    ofSender,
    /** Answers a request with another method than POST, which is a handshake or is refused. */
    async ofMethod(context: RequestContext, endpointAuth: EndpointAuth): Promise<HandshakeOutcome> {
      const { incoming, client, query } = context
      const { rate, verify } = endpointAuth
      const methods = verify?.value.handshakes?.methods ?? []
      if (!methods.includes(incoming.method ?? '')) return refused('METHOD_NOT_ALLOWED')
      const limited = overRate(throttle.takeOfClient(client, rate), 'client', rate)
      if (limited) return limited
      const received = { query: parseFields(query), payload: undefined, isTrusted: false }
      return (await ofSender(context, endpointAuth, received)) ?? refused('METHOD_NOT_ALLOWED')
    },
    /** Answers a sender that is not authenticated. Resolves with undefined for anything but a handshake that its provider sends unsigned. */
    async ofUnauthenticated(
      { facts, endpoint, endpointAuth, query, maxBytes }: UnauthenticatedHandshake,
      sent: Buffer,
    ): Promise<HandshakeOutcome | undefined> {
      const payload = await payloadOfUnauthenticated(endpoint, facts, sent, maxBytes)
      return ofSender(facts, endpointAuth, { query, payload, isTrusted: false })
    },
  }
}

/** A body that cannot be read is undefined too, as it holds no handshake. */
async function payloadOfUnauthenticated(
  endpoint: string,
  { headers: { 'content-encoding': encoding, 'content-type': type } }: RequestContext,
  sent: Buffer,
  maxBytes: number,
): Promise<unknown> {
  try {
    const body = encoding === undefined ? sent : await decompress(sent, encoding, maxBytes)
    return payloadIn(endpoint, body, type)
  } catch (error) {
    if (error instanceof RequestError) return undefined
    throw error
  }
}

/** The JSON in a body, as a handshake may hold it, or undefined. The request pipeline reports what is wrong with a body. */
export function payloadIn(endpoint: string, body: Buffer, contentType: string | undefined): unknown {
  return payloadOf(body, () => decodeFor(endpoint, body, contentType))
}

/** The same for a body that the request pipeline decodes as well. */
export function payloadOf(body: Buffer, decode: () => Decoded): unknown {
  if (body.length === 0) return undefined
  const decoded = decodedIfReadable(decode)
  return decoded?.isForm ? undefined : decoded?.payload
}
