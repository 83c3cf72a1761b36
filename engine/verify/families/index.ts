/** Owns which verifier reads which family of schemes. */

import type { VerifyPolicy } from '../../config/configuration.ts'
import type { Scheme } from '../scheme.ts'
import { createEcdsaVerifier } from './ecdsa.ts'
import { createEd25519Verifier } from './ed25519.ts'
import { createHmacVerifier } from './hmac.ts'
import { createOidcVerifier } from './oidc.ts'
import type { SchemeVerifier } from './scheme-verifier.ts'
import { createSnsVerifier } from './sns.ts'
import { createTokenVerifier } from './token.ts'

/** Undefined where the policy has no secret or key for it. */
export function createSchemeVerifier(scheme: Scheme, policy: VerifyPolicy): SchemeVerifier | undefined {
  switch (scheme.family) {
    case 'hmac':
      return createHmacVerifier(scheme, policy)
    case 'token':
      return createTokenVerifier(scheme, policy)
    case 'oidc':
      return createOidcVerifier(scheme, policy)
    case 'sns':
      return createSnsVerifier(scheme, policy)
    case 'ed25519':
      return createEd25519Verifier(scheme, policy)
    case 'ecdsa':
      return createEcdsaVerifier(scheme, policy)
  }
}
