/** Creates short random ids for the marks of a fence, which a payload must not be able to foresee. */

import { randomFillSync } from 'node:crypto'

const poolBytes = 4096
const idBytes = 6

/** An id is 48 random bits in base64url. The bits come from a pool, because a system call for each id would cost more. */
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
