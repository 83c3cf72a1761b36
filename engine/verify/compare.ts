/** Owns the comparison of secrets: the one place where what was given meets what is right, tokens and signatures alike. */

import { hash, timingSafeEqual } from 'node:crypto'

const digestBytes = 32

/** Which of the secrets was given, from 0; undefined where none was. */
export type SecretMatcher = (given: string) => number | undefined

/**
 * Compares digests, so that neither length nor content of a secret shows in the time taken; all secrets are
 * always compared. Build it once per snapshot: the digests of the secrets are made here.
 *
 * @throws TypeError when a secret is empty, because an empty token would open the door to everyone
 */
export function createSecretMatcher(secrets: readonly string[]): SecretMatcher {
  if (secrets.includes('')) throw new TypeError('A secret is empty; leave it out instead.')
  const digests = secrets.map((secret) => Buffer.from(digestOf(secret), 'latin1'))
  const digest = Buffer.alloc(digestBytes)

  return function matches(given) {
    digest.write(digestOf(given), 'latin1')
    let found: number | undefined
    for (const [index, secret] of digests.entries()) {
      if (timingSafeEqual(secret, digest)) found ??= index
    }
    return found
  }
}

/** Whether two texts or byte strings, of which at least one is secret or made with a secret, are the same. */
export function isSameSecret(given: string | Uint8Array, right: string | Uint8Array): boolean {
  return timingSafeEqual(
    Buffer.from(hash('sha256', given, 'binary'), 'latin1'),
    Buffer.from(hash('sha256', right, 'binary'), 'latin1'),
  )
}

/** SHA-256, a character for each byte: a quarter of what a new buffer costs, for every request. */
function digestOf(text: string): string {
  return hash('sha256', text, 'binary')
}
