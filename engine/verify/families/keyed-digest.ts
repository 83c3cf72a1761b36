/**
 * Computes HMAC (https://www.rfc-editor.org/rfc/rfc2104) from two one-shot digests. The object that Node.js makes for each
 * HMAC cost a busy gateway as much as the digest itself; the README has the figures.
 */

import { createHmac, hash, type KeyObject } from 'node:crypto'
import type { HashName } from '../../providers/scheme.ts'

/** Passes on what is digested, in order, texts as UTF-8. Each call passes on the same. */
export type Feed = (take: (part: string | Uint8Array) => void) => void

const blockBytes = { sha1: 64, sha256: 64, sha384: 128, sha512: 128 } as const
const longestBlock = 128
const longestDigest = 64
/** Most webhooks are shorter; longer ones use Node's own HMAC, where the cost of the object no longer matters. */
const longestMessage = 64 * 1024
/** The most UTF-8 bytes that one UTF-16 unit becomes. */
const bytesPerUnit = 3

/** Filling and reading them is synchronous, so one buffer of each kind serves all keys. */
const inner = Buffer.alloc(longestBlock + longestMessage)
const outer = Buffer.alloc(longestBlock + longestDigest)

export function createKeyedDigest(name: HashName, key: KeyObject): (feed: Feed) => Buffer {
  const block = blockBytes[name]
  const padded = Buffer.alloc(block)
  const bytes = key.export()
  const short = bytes.length > block ? hash(name, bytes, 'buffer') : bytes
  short.copy(padded)
  const innerPad = padded.map((byte) => byte ^ 0x36)
  const outerPad = padded.map((byte) => byte ^ 0x5c)

  return function digest(feed) {
    const end = fill(block, feed)
    if (end === undefined) return digestLong(feed)
    inner.set(innerPad)
    outer.set(outerPad)
    const length = outer.write(hash(name, inner.subarray(0, end), 'binary'), block, 'latin1')
    return Buffer.from(hash(name, outer.subarray(0, block + length), 'binary'), 'latin1')
  }

  function digestLong(feed: Feed): Buffer {
    const hmac = createHmac(name, key)
    feed((part) => hmac.update(part))
    return hmac.digest()
  }
}

/** Writes the message at `start` and returns where it ends; undefined where it may not fit. */
function fill(start: number, feed: Feed): number | undefined {
  let end = start
  let fits = true
  feed((part) => {
    if (!fits) return
    const most = typeof part === 'string' ? part.length * bytesPerUnit : part.length
    fits = end + most <= inner.length
    if (!fits) return
    if (typeof part === 'string') end += inner.write(part, end, 'utf8')
    else {
      inner.set(part, end)
      end += part.length
    }
  })
  return fits ? end : undefined
}
