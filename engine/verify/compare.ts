/** Compares secrets, tokens and signatures in constant time. No other file compares what was sent with what is right. */

import { hash, timingSafeEqual } from 'node:crypto'

/** Returns the index of the secret that was given; undefined where it is none of them. */
export type SecretMatcher = (given: string) => number | undefined

/**
 * The matcher always compares all secrets.
 *
 * @throws TypeError when a secret is empty, because an empty token would let everybody in
 */
export function createSecretMatcher(secrets: readonly string[]): SecretMatcher {
  if (secrets.includes('')) throw new TypeError('A secret is empty; leave it out instead.')
  const hashes = secrets.map(hashOf)
  return function matches(given) {
    const sent = hashOf(given)
    const [first] = hashes.flatMap((right, index) => (timingSafeEqual(sent, right) ? index : []))
    return first
  }
}

/**
 * True if two texts or byte strings are equal, at least one of which is a secret or made with one. Their hashes are compared, so that
 * neither length nor content of a secret shows in the time taken.
 */
export function isSameSecret(given: string | Uint8Array, right: string | Uint8Array): boolean {
  return timingSafeEqual(hashOf(given), hashOf(right))
}

/** By way of a text, as a new buffer takes longer than the hash. */
const hashOf = (value: string | Uint8Array) => Buffer.from(hash('sha256', value, 'binary'), 'latin1')
