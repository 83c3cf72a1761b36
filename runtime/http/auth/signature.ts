/** Verifies that the body, byte for byte as it was sent, was signed by the provider of the endpoint. */

import {
  placeOfPolicyValue,
  UnavailableError,
  type VerifyDependencies,
  type VerifyResult,
} from '@reveille/engine'
import type { Throttle } from '../clients/throttle.ts'
import { type Refused, type RequestContext, refused } from '../request-context.ts'
import { originForm } from '../target.ts'
import { sentenceOf, signatureFailureOf } from './auth-failure.ts'
import type { EndpointAuth } from './endpoint-auth.ts'
import type { RejectUnauthenticated } from './reject.ts'
import type { SenderWarnings } from './sender-warnings.ts'

export interface SignatureOptions {
  readonly verifyDependencies: VerifyDependencies
  readonly throttle: Pick<Throttle, 'right'>
  readonly warnings: Pick<SenderWarnings, 'ofOldSecret'>
  readonly rejectUnauthenticated: RejectUnauthenticated
}

type Verify = NonNullable<EndpointAuth['verify']>

export function createSignatureStep({
  verifyDependencies,
  throttle,
  warnings,
  rejectUnauthenticated,
}: SignatureOptions) {
  /** Resolves with undefined for a good signature. */
  return async function verifySignature(
    context: RequestContext,
    { verify }: EndpointAuth,
    sent: Buffer,
  ): Promise<Refused | undefined> {
    if (verify === undefined) return undefined
    const verdict = await verdictOn(context, verify, sent)
    if (verdict === undefined) return unavailable
    if (!verdict.ok) return rejectUnauthenticated(context, signatureFailureOf(verdict))
    throttle.right(context.client)
    if (verdict.secret > 0) {
      warnings.ofOldSecret(context, placeOfPolicyValue('verify', verify), verdict.secret)
    }
    return undefined
  }

  /** Resolves with undefined where something that verification needs cannot be reached. */
  async function verdictOn(
    { incoming, headers, receivedAt }: RequestContext,
    { value: { verifier } }: Verify,
    rawBody: Buffer,
  ): Promise<VerifyResult | undefined> {
    const { method = '', url = '' } = incoming
    const request = { method, target: originForm(url), headers, rawBody, now: receivedAt }
    try {
      return await verifier?.verify(request, verifyDependencies)
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
  reason: sentenceOf(keysUnavailable),
}
