/** A provider for tests, which signs with HMAC-SHA256 in the header `x-signature`. */

import { createHmac } from 'node:crypto'
import {
  createSecretMatcher,
  type EffectivePolicy,
  type Handshakes,
  type Provider,
  type SignedRequest,
  type VerifyDependencies,
  type VerifyResult,
} from '@reveille/engine'

export interface ProviderParts {
  /** The newest first; without any there is no verifier. */
  readonly secrets?: readonly string[]
  readonly handshakes?: Handshakes
  readonly tokenHeaders?: readonly string[]
  /** In place of a comparison. */
  readonly verify?: (
    request: SignedRequest,
    means: VerifyDependencies,
  ) => VerifyResult | Promise<VerifyResult>
}

export const secret = 'a-secret-of-the-provider'

export function createProvider(parts: ProviderParts = {}): Provider {
  const { secrets = [secret], handshakes, tokenHeaders = [], verify } = parts
  return {
    name: 'fixture',
    ...(secrets.length > 0 && {
      verifier: {
        isPresent: (headers) => headers['x-signature'] !== undefined,
        verify: verify ?? (({ headers, rawBody }) => verdictOn(headers['x-signature'], rawBody, secrets)),
      },
    }),
    ...(handshakes && { handshakes }),
    tokenHeaders,
    deliveryIdOf: () => undefined,
    retryHorizonMs: 86_400_000,
  }
}

/** The effective policy of an endpoint whose policy has the given name. */
export function policyFor(
  policy: string,
  provider: Provider,
  auth?: NonNullable<EffectivePolicy['auth']>['value'],
): EffectivePolicy {
  return { verify: { value: provider, policy }, ...(auth && { auth: { value: auth, policy } }) }
}

export function sign(body: string | Buffer, key = secret): string {
  return createHmac('sha256', key).update(body).digest('hex')
}

function verdictOn(given: unknown, body: Uint8Array, secrets: readonly string[]): VerifyResult {
  const matches = createSecretMatcher(secrets.map((key) => sign(Buffer.from(body), key)))
  const index = matches(String(given))
  if (index === undefined) return { ok: false, code: 'SIGNATURE_MISMATCH' }
  return { ok: true, scheme: 'default', secret: index }
}
