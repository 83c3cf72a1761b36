/** Converts ids to their form on disk, the 16 bytes of the UUID, and back. */

import type { Id } from '../../port.ts'

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function isId(text: string): boolean {
  return pattern.test(text)
}

/** @throws TypeError for a text that is no UUID in lower case */
export function blobOfId(id: Id): Uint8Array {
  const digits = id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24)
  const blob = Buffer.allocUnsafe(16)
  if (id.length !== 36 || blob.write(digits, 'hex') !== 16)
    throw new TypeError('an id must be a UUID in its text form')
  return blob
}

export function idOfBlob(blob: Uint8Array): Id {
  const hex = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Returns the smallest id of a millisecond. All ids that were minted before it sort below it. */
export function blobOfTime(time: number): Uint8Array {
  const blob = Buffer.alloc(16)
  blob.writeUIntBE(Math.max(0, Math.floor(time)), 0, 6)
  return blob
}
