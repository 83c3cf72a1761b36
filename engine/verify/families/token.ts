/** Owns verifying a header that holds the secret itself: it says who sends, and nothing of what is sent. */

import type { VerifyPolicy } from '../../config/configuration.ts'
import { secretsFor } from '../../providers/secrets.ts'
import { createSecretMatcher } from '../compare.ts'
import { headerOf } from '../header.ts'
import type { TokenScheme } from '../scheme.ts'
import { unverified } from '../signed-request.ts'
import type { SchemeVerifier } from './scheme-verifier.ts'

export function createTokenVerifier(scheme: TokenScheme, policy: VerifyPolicy): SchemeVerifier | undefined {
  const secrets = secretsFor(scheme, policy.secret)
  if (secrets.length === 0) return undefined
  const matches = createSecretMatcher(secrets.map(({ text }) => text))
  const name = scheme.name ?? 'default'

  return {
    isPresent: (headers) => headerOf(headers, scheme.header) !== undefined,
    verify({ headers }) {
      const given = headerOf(headers, scheme.header)
      if (given === undefined) return unverified('SIGNATURE_MISSING')
      const found = matches(given)
      const secret = found === undefined ? undefined : secrets[found]?.index
      return secret === undefined ? unverified('SIGNATURE_MISMATCH') : { ok: true, scheme: name, secret }
    },
  }
}
