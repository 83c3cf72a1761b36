/** Checks the secrets and public keys of a `verify`. No finding shows one. */

import { readPublicKey } from '../../providers/public-keys.ts'
import type { ProviderRow, Scheme } from '../../providers/scheme.ts'
import { readKey, secretsFor } from '../../providers/secrets.ts'
import type { Finding } from '../file/diagnostic.ts'
import type { VerifyPolicy } from '../schema/policy-schema.ts'
import { tokensAt } from './token-rules.ts'

/** Returns the rules for the keys that the provider reads. */
export function* verifyValueRules({ schemes }: ProviderRow, verify: VerifyPolicy): Iterable<Finding> {
  for (const scheme of schemes) {
    if (scheme.family === 'hmac')
      yield* malformed('secret', verify.secret, writtenAs[scheme.key], (secret) => {
        if (secretsFor(scheme, secret).every(({ text }) => readKey(text, scheme.key) !== undefined))
          return undefined
        const isPublic = secret.startsWith('whpk_')
        return isPublic ? 'What begins with `whpk_` is a public key: write it as `publicKey`.' : copyAgain
      })
    if (scheme.family === 'ed25519' || scheme.family === 'ecdsa')
      yield* malformed('publicKey', verify.publicKey, keyWrittenAs(scheme), (key) => {
        if (isBlank(key) || readPublicKey(key, scheme) !== undefined) return undefined
        const isArmoured = key.includes('-----')
        return isArmoured ? 'Leave out the lines that begin with dashes, and the line breaks.' : copyAgain
      })
  }
}

const copyAgain = 'Copy it again from the provider, whole.'

const writtenAs = {
  whsec: 'base64, with or without `whsec_` before it',
  base64: 'base64, as `hmac.key` says',
  hex: 'hex, as `hmac.key` says',
  text: 'a string',
} as const

/** `adviceFor` returns the fix of a value with which nothing could be verified. */
function* malformed(
  key: 'secret' | 'publicKey',
  values: VerifyPolicy['secret'],
  expected: string,
  adviceFor: (value: string) => string | undefined,
): Iterable<Finding> {
  const path = ['verify', key]
  for (const { path: place, token } of tokensAt(path, values)) {
    const hint = adviceFor(token)
    if (hint) yield { path, place, code: 'INVALID_VALUE', problem: `must be ${expected}`, hint }
  }
}

function keyWrittenAs(scheme: Extract<Scheme, { family: 'ed25519' | 'ecdsa' }>): string {
  if (scheme.family === 'ecdsa') return 'a public key on P-256: base64 of its DER'
  return scheme.key === 'hex' ? 'a public key of 32 bytes: 64 hex digits' : '`whpk_` and 32 bytes in base64'
}

/** A blank value counts as absent. */
export function isBlank(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.trim() === '')
}
