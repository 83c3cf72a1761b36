/** Owns the signature's rung: whether the body, byte for byte as it was sent, is of the endpoint's provider. */

import { placeOfTerm, UnavailableError, type Verdict, type VerifyDependencies } from '@reveille/engine'
import type { Throttle } from '../clients/throttle.ts'
import { type Exchange, type Refused, refused } from '../exchange.ts'
import { originForm } from '../target.ts'
import type { Entrance } from './doors.ts'
import type { SenderWarnings } from './sender-warnings.ts'
import { distrustOf, sentenceOf } from './trust-failure.ts'
import type { TurnAway } from './turn-away.ts'

export interface SignatureOptions {
  readonly means: VerifyDependencies
  readonly throttle: Pick<Throttle, 'right'>
  readonly warnings: Pick<SenderWarnings, 'ofOldSecret'>
  readonly turnAway: TurnAway
}

type Verify = NonNullable<Entrance['verify']>

/** Undefined: it is good. */
export type VerifySignature = (
  exchange: Exchange,
  verify: Verify,
  sent: Buffer,
) => Promise<Refused | undefined>

export function createSignatureRung({
  means,
  throttle,
  warnings,
  turnAway,
}: SignatureOptions): VerifySignature {
  return async function verifySignature(exchange, verify, sent) {
    const verdict = await verdictOn(exchange, verify, sent)
    if (verdict === undefined) return unavailable
    if (!verdict.ok) return turnAway(exchange, distrustOf(verdict))
    throttle.right(exchange.client)
    if (verdict.secret > 0) {
      warnings.ofOldSecret(exchange, placeOfTerm('verify', verify), verdict.secret)
    }
    return undefined
  }

  /** Undefined: what a verdict needs is out of reach. */
  async function verdictOn(
    { incoming, receivedAt }: Exchange,
    { value: { verifier } }: Verify,
    rawBody: Buffer,
  ): Promise<Verdict | undefined> {
    const { method = '', url = '', headers } = incoming
    const request = { method, target: originForm(url), headers, rawBody, now: receivedAt }
    try {
      return await verifier?.verify(request, means)
    } catch (error) {
      if (error instanceof UnavailableError) return undefined
      throw error
    }
  }
}

const keysUnavailable = { failure: 'KEYS_UNAVAILABLE' } as const
const unavailable: Refused = {
  ...refused('VERIFIER_UNAVAILABLE'),
  ...keysUnavailable,
  told: sentenceOf(keysUnavailable),
}
