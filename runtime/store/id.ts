/** Owns ids: UUIDv7 (RFC 9562), monotonic within one process so that they append to every index they enter. */

import { randomFillSync } from 'node:crypto'
import type { Id } from './records.ts'

export type MintId = () => Id

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const counterMax = 0xfff

/**
 * Within one millisecond the 12 bits after the version count up; when they run out, or the clock steps back,
 * the minter's own time moves on by one and never back.
 */
export function createIdMinter(now: () => number): MintId {
  const random = new Uint8Array(4096)
  let used = random.length
  let time = 0
  let counter = 0

  return function mintId() {
    const clock = now()
    if (clock > time) {
      time = clock
      counter = 0
    } else if (counter === counterMax) {
      time += 1
      counter = 0
    } else {
      counter += 1
    }
    if (used === random.length) {
      randomFillSync(random)
      used = 0
    }
    const r = random.subarray(used, used + 8)
    used += 8
    const high = Math.floor(time / 0x1_0000)
    const low = time % 0x1_0000
    return (
      `${byte(high >>> 24)}${byte(high >>> 16)}${byte(high >>> 8)}${byte(high)}-${byte(low >>> 8)}${byte(low)}-` +
      `${byte(0x70 | (counter >>> 8))}${byte(counter)}-` +
      `${byte(0x80 | (at(r, 0) & 0x3f))}${byte(at(r, 1))}-` +
      `${byte(at(r, 2))}${byte(at(r, 3))}${byte(at(r, 4))}${byte(at(r, 5))}${byte(at(r, 6))}${byte(at(r, 7))}`
    )
  }
}

/** The time an id was minted, in milliseconds since the Unix epoch. */
export function timeOfId(id: Id): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

function byte(value: number): string {
  return hex[value & 0xff] as string
}

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] as number
}
