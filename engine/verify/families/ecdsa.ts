/** Owns signatures of ECDSA on P-256 with SHA-256, written as DER: https://www.rfc-editor.org/rfc/rfc3279#section-2.2.3 */

import type { VerifyPolicy } from '../../config/configuration.ts'
import type { EcdsaScheme } from '../scheme.ts'
import { createPublicKeyVerifier } from './public-key.ts'
import type { SchemeVerifier } from './scheme-verifier.ts'

/** Two numbers of 32 bytes, each with a sign where it needs one, and what is around them. */
const mostBytes = 72

/** The platform reads DER and nothing else, so that the two numbers bare, as JOSE writes them, fit nothing. */
export function createEcdsaVerifier(scheme: EcdsaScheme, policy: VerifyPolicy): SchemeVerifier | undefined {
  const isLength = (bytes: number) => bytes <= mostBytes
  return createPublicKeyVerifier(scheme, policy, { encoding: 'base64', hash: 'sha256', isLength })
}
