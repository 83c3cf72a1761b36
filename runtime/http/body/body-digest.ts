/** Owns the digest of a body, by which two requests under one idempotency key are told apart. */

import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Some 2 ms of work without the help of the processor. Bytes. */
const sliceBytes = 1024 * 1024

/** SHA-256 in hex, in turns: policies may allow bodies of 100 MB. */
export async function digestOfBody(body: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  for (let start = 0; start < body.length; start += sliceBytes) {
    if (start > 0) await nextTurn()
    hash.update(body.subarray(start, start + sliceBytes))
  }
  return hash.digest('hex')
}
