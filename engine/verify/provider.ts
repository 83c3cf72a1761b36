/** Owns a policy's `verify`, ready to be asked: who the sender is, whether it is the one, and what its request is. */

import type { VerifyPolicy } from '../config/configuration.ts'
import { parseDuration } from '../config/duration.ts'
import { rowOf } from '../providers/material.ts'
import { createDeliveryIdFinder } from './delivery-id.ts'
import { createVerifier } from './families/joined-verifier.ts'
import { createChallenge, withoutChallenges } from './handshakes/challenge.ts'
import type { Handshake, HandshakeRequest } from './handshakes/handshake.ts'
import { createHandshakes } from './handshakes/index.ts'
import type { ProviderRow } from './scheme.ts'
import type { Headers, SignedRequest, Verdict, VerifyMeans } from './signed-request.ts'

/** What of a request names its delivery. */
export interface DeliveredRequest {
  readonly headers: Headers
  readonly payload: unknown
  readonly rawBody: Uint8Array
}

export interface Provider {
  readonly name: string
  /** Absent: there is nothing to verify with, as no secret is configured yet or as the provider signs nothing. */
  readonly verifier?: Verifier
  readonly handshakes?: Handshakes
  /** Headers that carry a secret: no mapping sees them. */
  readonly tokenHeaders: readonly string[]
  /** The same for every try of one delivery; undefined where the request has none. */
  deliveryIdOf(request: DeliveredRequest): string | undefined
  /** For how long a delivery may come again; at least a day. Milliseconds. */
  readonly retryHorizonMs: number
}

export interface Verifier {
  /**
   * Whether the request carries what a signature stands in, as far as its headers tell, or one that is too weak to count:
   * without it nobody need read the body. The one that is missing by its place is told with `SIGNATURE_MISSING`.
   */
  isPresent(headers: Headers): boolean
  /**
   * Never throws for what a request holds. A promise only where keys may have to be fetched, or a long body is parsed.
   * @throws UnavailableError, or rejects with it
   */
  verify(request: SignedRequest, means: VerifyMeans): Verdict | Promise<Verdict>
}

export interface Handshakes {
  /** Methods besides POST that a handshake may come with. */
  readonly methods: readonly string[]
  /** Whether a POST without a signature may be one: it is read, up to a small limit, though nobody knows who sent it. */
  readonly unsigned: boolean
  /** Undefined: it is no handshake. */
  answer(request: HandshakeRequest): Handshake | undefined
}

const dayMs = 86_400_000

/** A name that nobody has is a finding when the configuration is loaded; here it is a provider that verifies nothing. */
export function createProvider(policy: VerifyPolicy): Provider {
  const row = rowOf(policy)
  const { provider, challenge } = policy
  // A provider of the table asks in its own way.
  const own = provider === undefined || provider === 'hmac' ? challenge : undefined
  const signed = row && createVerifier(row.schemes, policy)
  const verifier = signed && own?.hmac ? withoutChallenges(signed) : signed
  const handshakes = own ? createChallenge(own, policy) : row && createHandshakes(row, policy)
  return {
    name: policy.provider ?? '',
    ...(verifier && { verifier }),
    ...(handshakes && { handshakes }),
    tokenHeaders: row?.tokenHeaders ?? [],
    deliveryIdOf: createDeliveryIdFinder(row?.deliveryId),
    retryHorizonMs: row === undefined ? dayMs : retryHorizonOf(row),
  }
}

/** Nobody promises to keep to the schedule, and people send again by hand. */
function retryHorizonOf({ retryHorizon }: ProviderRow): number {
  return retryHorizon === 'none' ? dayMs : Math.max(dayMs, parseDuration(retryHorizon))
}
