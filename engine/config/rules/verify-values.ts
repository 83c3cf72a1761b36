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
    if (scheme.family === 'hmac') yield* malformedSecrets(scheme, verify.secret)
    if (scheme.family === 'ed25519' || scheme.family === 'ecdsa')
      yield* malformedKeys(scheme, verify.publicKey)
  }
}

const writtenAs = {
  whsec: 'base64, with or without `whsec_` before it',
  base64: 'base64, as `hmac.key` says',
  hex: 'hex, as `hmac.key` says',
  text: 'text',
} as const

function* malformedSecrets(
  scheme: Extract<Scheme, { family: 'hmac' }>,
  secrets: VerifyPolicy['secret'],
): Iterable<Finding> {
  const path = ['verify', 'secret']
  for (const { path: place, token: secret } of tokensAt(path, secrets)) {
    if (!secretsFor(scheme, secret).some(({ text }) => readKey(text, scheme.key) === undefined)) continue
    const hint = secret.startsWith('whpk_')
      ? 'What begins with `whpk_` is a public key: write it as `publicKey`.'
      : 'Copy it once more from the provider, whole.'
    yield { path, place, code: 'INVALID_VALUE', problem: `must be ${writtenAs[scheme.key]}`, hint }
  }
}

function* malformedKeys(
  scheme: Extract<Scheme, { family: 'ed25519' | 'ecdsa' }>,
  publicKeys: VerifyPolicy['publicKey'],
): Iterable<Finding> {
  const path = ['verify', 'publicKey']
  for (const { path: place, token: key } of tokensAt(path, publicKeys)) {
    if (isBlank(key) || readPublicKey(key, scheme) !== undefined) continue
    const hint = key.includes('-----')
      ? 'Leave out the lines that begin with dashes, and the line breaks.'
      : 'Copy it once more from the provider, whole.'
    yield { path, place, code: 'INVALID_VALUE', problem: `must be ${keyWrittenAs(scheme)}`, hint }
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
