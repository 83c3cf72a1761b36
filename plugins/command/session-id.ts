/** Owns the id that a session's conversation has in the program, where we are the ones to choose it. */

import { createHash } from 'node:crypto'

/** Any constant would do; another one would lose every conversation. */
const namespace = Buffer.from('6f2d1c0e8b5a4d3f9a7e21c45d80b3f6', 'hex')

/** A version 5 UUID (RFC 9562, section 5.5): the same key always gives the same one, as programs ask for UUIDs. */
export function sessionIdOf(sessionKey: string): string {
  const digest = createHash('sha1').update(namespace).update(sessionKey).digest()
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80
  const hex = digest.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  )
}
