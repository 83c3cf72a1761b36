/** Compares secrets, tokens and signatures in constant time. No other file compares what was sent with what is right. */

import { hash, timingSafeEqual } from 'node:crypto'

const digestBytes = 32

/** Returns the index of the secret that was given; undefined where it is none of them. */
export type SecretMatcher = (given: string) => number | undefined

/**
 * The matcher compares digests, so that neither length nor content of a secret shows in the time taken, and always
 * compares all secrets. It is made once per snapshot, because it digests the secrets.
 *
 * @throws TypeError when a secret is empty, because an empty token would let everybody in
 */
export function createSecretMatcher(secrets: readonly string[]): SecretMatcher {
  if (secrets.includes('')) throw new TypeError('A secret is empty; leave it out instead.')
  const digests = secrets.map((secret) => Buffer.from(digestOf(secret), 'latin1'))
  const digest = Buffer.alloc(digestBytes)

  return function matches(given) {
    digest.write(digestOf(given), 'latin1')
    let match: number | undefined
    for (const [index, secret] of digests.entries()) {
      if (timingSafeEqual(secret, digest)) match ??= index
    }
    return match
  }
}

/** True if two texts or byte strings are equal, at least one of which is a secret or made with one. */
export function isSameSecret(given: string | Uint8Array, right: string | Uint8Array): boolean {
  return timingSafeEqual(
    Buffer.from(hash('sha256', given, 'binary'), 'latin1'),
    Buffer.from(hash('sha256', right, 'binary'), 'latin1'),
  )
}

/** Returns SHA-256 with one character for each byte, which costs a quarter of a new buffer for every request. */
function digestOf(text: string): string {
  return hash('sha256', text, 'binary')
}
