/**
 * Owns keyed digests: HMAC (https://www.rfc-editor.org/rfc/rfc2104), put together of two one-shot digests. The object that
 * Node.js makes for each HMAC cost a busy gateway as much again as the digest itself: see the README.
 */

import { createHmac, hash, type KeyObject } from 'node:crypto'
import type { HashName } from '../scheme.ts'

/** Hands over what is digested, in order, texts as UTF-8; the same each time that it is called. */
export type Feed = (take: (part: string | Uint8Array) => void) => void

const blockBytes = { sha1: 64, sha256: 64, sha384: 128, sha512: 128 } as const
const longestBlock = 128
const longestDigest = 64
/** Most webhooks are shorter; a longer one takes the road of Node.js, where the object no longer counts. */
const longestMessage = 64 * 1024
/** UTF-16 units become at most so many bytes each. */
const bytesPerUnit = 3

/** Nothing waits between filling and reading them, so one of each serves every key. */
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

/** Where the message ends that begins at `start`; undefined where there may be no room for it. */
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
