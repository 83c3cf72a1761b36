/** Owns short unguessable ids: the marks of a fence, which a payload must not be able to foresee. */

import { randomFillSync } from 'node:crypto'

const poolBytes = 4096
const idBytes = 6

/** 48 random bits, base64url. Drawn from a pool, because one call to the system for each costs more than the id. */
export function createRandomIds(): () => string {
  const pool = Buffer.alloc(poolBytes)
  let used = poolBytes

  return function randomId() {
    if (used + idBytes > poolBytes) {
      randomFillSync(pool)
      used = 0
    }
    used += idBytes
    return pool.toString('base64url', used - idBytes, used)
  }
}
