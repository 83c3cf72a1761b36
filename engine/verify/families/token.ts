/** Verifies a header that holds the secret itself, which proves who sends and nothing about what is sent. */

import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import type { TokenScheme } from '../../providers/scheme.ts'
import { secretsFor } from '../../providers/secrets.ts'
import { createSecretMatcher } from '../compare.ts'
import { headerOf } from '../header.ts'
import { unverified, type Verifier } from '../verifier.ts'

export function createTokenVerifier(scheme: TokenScheme, policy: VerifyPolicy): Verifier | undefined {
  const secrets = secretsFor(scheme, policy.secret)
  if (secrets.length === 0) return undefined
  const matches = createSecretMatcher(secrets.map(({ text }) => text))
  const name = scheme.name ?? 'default'

  return {
    isPresent: (headers) => headerOf(headers, scheme.header) !== undefined,
    verify({ headers }) {
      const token = headerOf(headers, scheme.header)
      if (token === undefined) return unverified('SIGNATURE_MISSING')
      const match = matches(token)
      const secret = match === undefined ? undefined : secrets[match]?.index
      return secret === undefined ? unverified('SIGNATURE_MISMATCH') : { ok: true, scheme: name, secret }
    },
  }
}
