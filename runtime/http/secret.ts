/** Owns the comparison of secrets: the one place where a given token meets a configured one. */

import { hash, timingSafeEqual } from 'node:crypto'

/**
 * Compares digests, so that neither length nor content of a secret shows in the time taken; all secrets are
 * always compared. Build it once per snapshot: the digests of the secrets are made here.
 *
 * @throws TypeError when a secret is empty, because an empty token would open the door to everyone
 */
export function createSecretMatcher(secrets: readonly string[]): (given: string) => boolean {
  if (secrets.includes('')) throw new TypeError('A secret is empty; leave it out instead.')
  const digests = secrets.map(digestOf)

  return function matches(given) {
    const digest = digestOf(given)
    let found = false
    for (const secret of digests) found = timingSafeEqual(secret, digest) || found
    return found
  }
}

function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
