/** Compiles a policy's `verify` into a provider: its verifier, its handshakes, and its delivery ids. */

import { rowOf } from '../config/rules/material.ts'
import type { VerifyPolicy } from '../config/schema/policy-schema.ts'
import { parseDuration } from '../config/values/quantities.ts'
import type { ProviderRow } from '../providers/scheme.ts'
import { createDeliveryIdFinder, type FindDeliveryId } from './delivery-id.ts'
import { createVerifier } from './families/provider-verifier.ts'
import { createChallenge, withoutChallenges } from './handshakes/challenge.ts'
import type { Handshakes } from './handshakes/handshake.ts'
import { createHandshakes } from './handshakes/provider-handshakes.ts'
import type { Verifier } from './verifier.ts'

export interface Provider {
  readonly name: string
  /** Absent where no secret is configured yet, or the provider signs nothing. */
  readonly verifier?: Verifier
  readonly handshakes?: Handshakes
  /** The headers that carry a secret, which mappings do not see. */
  readonly tokenHeaders: readonly string[]
  /** Returns the same id for every attempt of one delivery; undefined where the request has none. */
  readonly deliveryIdOf: FindDeliveryId
  /** For how long the provider may repeat a delivery, in milliseconds; at least a day. */
  readonly retryHorizonMs: number
}

const dayMs = 86_400_000

/** An unknown name is reported when the configuration is loaded; here it makes a provider that verifies nothing. */
export function createProvider(policy: VerifyPolicy): Provider {
  const row = rowOf(policy)
  const { provider } = policy
  // A provider of the table has a handshake of its own.
  const challenge = provider === undefined || provider === 'hmac' ? policy.challenge : undefined
  const signed = row && createVerifier(row.schemes, policy)
  const verifier = signed && challenge?.hmac ? withoutChallenges(signed) : signed
  const handshakes = challenge ? createChallenge(challenge, policy) : row && createHandshakes(row, policy)
  return {
    name: provider ?? '',
    ...(verifier && { verifier }),
    ...(handshakes && { handshakes }),
    tokenHeaders: row?.tokenHeaders ?? [],
    deliveryIdOf: createDeliveryIdFinder(row?.deliveryId),
    retryHorizonMs: row === undefined ? dayMs : retryHorizonOf(row),
  }
}

/** No provider promises to keep to its schedule, and people repeat deliveries by hand. */
function retryHorizonOf({ retryHorizon }: ProviderRow): number {
  return retryHorizon === 'none' ? dayMs : Math.max(dayMs, parseDuration(retryHorizon))
}
