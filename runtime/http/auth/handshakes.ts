/** Owns handshakes on the hook surface: which requests may be one, and what answering one takes. */

import { type Handshake, type HandshakeRequest, type Timers, UnavailableError } from '@reveille/engine'
import { decodeFor, maxBytesFor } from '../body/decode.ts'
import { decompress } from '../body/decompress.ts'
import { type Fields, parseFields } from '../body/fields.ts'
import { readBody } from '../body/read-body.ts'
import type { Throttle } from '../clients/throttle.ts'
import { RequestError } from '../errors.ts'
import { type Ending, type Exchange, type Refused, refused } from '../exchange.ts'
import type { Entrance } from './doors.ts'
import { overRate, type TurnAway } from './turn-away.ts'

export interface HandshakesOptions {
  readonly throttle: Pick<Throttle, 'takeOfClient'>
  readonly turnAway: TurnAway
  /** Does what a handshake asks for besides its answer; resolves when that may be sent. `policy`: whose `verify` it is. */
  readonly honour: (policy: string, handshake: Handshake) => Promise<void>
  readonly timers: Timers
}

export interface Handshakes {
  /** With another method than POST comes a handshake, or nothing that is taken. */
  ofMethod(exchange: Exchange, entrance: Entrance): Promise<Ending>
  /** Of a sender that is not believed, where its provider sends them unsigned. Any other request ends as `refusal` says. */
  ofStranger(
    exchange: Exchange,
    entrance: Entrance,
    query: Readonly<Fields>,
    refusal: Refused,
  ): Promise<Ending>
  /** Of a sender that is believed, or need not be. Undefined: it is no handshake. */
  ofSender(exchange: Exchange, entrance: Entrance, received: Received): Promise<Ending | undefined>
}

type Received = Pick<HandshakeRequest, 'query' | 'isTrusted' | 'payload'>

/** A body of a sender that nobody knows is read this far. Bytes. */
const mostOfStranger = 16_384

export function createHandshakes({ throttle, turnAway, honour, timers }: HandshakesOptions): Handshakes {
  /** One that shows something else than what is configured is a wrong try, and has its provider's answer to that. */
  async function ofSender(exchange: Exchange, { verify }: Entrance, received: Received) {
    const { method = '', headers } = exchange.incoming
    const handshake = verify?.value.handshakes?.answer({ method, headers, ...received })
    if (verify === undefined || handshake === undefined) return undefined
    if (handshake.status >= 400) {
      const refusal = await turnAway(exchange, { failure: 'HANDSHAKE_WRONG', told: handshake.reason })
      return refusal.code === 'UNAUTHORIZED' ? { ...refusal, handshake } : refusal
    }
    try {
      await honour(verify.policy, handshake)
    } catch (error) {
      if (error instanceof UnavailableError) return { ...refused('HANDSHAKE_UNAVAILABLE'), fault: error }
      throw error
    }
    return { outcome: 'handshake', handshake } as const
  }

  /** Undefined also where it cannot be read: then it is no handshake. */
  async function payloadOfStranger(exchange: Exchange, endpoint: string): Promise<unknown> {
    const { incoming, outgoing, live } = exchange
    const { snapshot } = live
    const maxBytes = Math.min(mostOfStranger, maxBytesFor(snapshot, endpoint))
    const limits = { maxBytes, timeoutMs: snapshot.settings.hooks.bodyTimeoutMs, timers }
    try {
      const sent = await readBody(incoming, outgoing, limits)
      exchange.body = sent
      const { 'content-encoding': encoding, 'content-type': type } = incoming.headers
      const body = encoding === undefined ? sent : await decompress(sent, encoding, maxBytes)
      return await payloadIn(body, decodeFor(endpoint, body, type))
    } catch (error) {
      if (error instanceof RequestError && error.code !== 'BODY_TIMEOUT') return undefined
      throw error
    }
  }

  return {
    ofSender,
    async ofMethod(exchange, entrance) {
      const { incoming, client, query } = exchange
      const methods = entrance.verify?.value.handshakes?.methods ?? []
      if (!methods.includes(incoming.method ?? '')) return refused('METHOD_NOT_ALLOWED')
      const limited = await overRate(throttle.takeOfClient(client, entrance.rate), 'client', entrance.rate)
      if (limited) return limited
      const received = { query: parseFields(query), payload: undefined, isTrusted: false }
      return (await ofSender(exchange, entrance, received)) ?? refused('METHOD_NOT_ALLOWED')
    },
    async ofStranger(exchange, entrance, query, refusal) {
      const { endpoint } = exchange
      if (endpoint === undefined || !entrance.verify?.value.handshakes?.unsigned) return refusal
      const payload = await payloadOfStranger(exchange, endpoint)
      return (await ofSender(exchange, entrance, { query, payload, isTrusted: false })) ?? refusal
    },
  }
}

/** As a handshake may hold it: JSON, or nothing. What is wrong with it is for the ladder to say. */
export async function payloadIn(body: Buffer, decoding: ReturnType<typeof decodeFor>): Promise<unknown> {
  if (body.length === 0) return undefined
  try {
    const { payload, isForm } = await decoding
    return isForm ? undefined : payload
  } catch (error) {
    if (error instanceof RequestError) return undefined
    throw error
  }
}
