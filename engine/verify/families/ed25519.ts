/** Owns signatures of Ed25519: https://www.rfc-editor.org/rfc/rfc8032 */

import type { VerifyPolicy } from '../../config/configuration.ts'
import type { Ed25519Scheme } from '../scheme.ts'
import { createPublicKeyVerifier } from './public-key.ts'
import type { SchemeVerifier } from './scheme-verifier.ts'

const length = 64

export function createEd25519Verifier(
  scheme: Ed25519Scheme,
  policy: VerifyPolicy,
): SchemeVerifier | undefined {
  const isLength = (bytes: number) => bytes === length
  return createPublicKeyVerifier(scheme, policy, { encoding: scheme.encoding, hash: undefined, isLength })
}
