/** Mints and recognises ids: UUIDv7 (RFC 9562), monotonic within one process so that they append to every index they enter. */

import { randomFillSync } from 'node:crypto'
import type { Id } from './records.ts'

export type MintId = () => Id

/** `startAfter` makes all later ids greater than those of that time: the minter of an earlier process may have been ahead of the clock. */
export type IdMinter = MintId & { startAfter(time: number): void }

const digits = Buffer.from('0123456789abcdef')
const counterMax = 0xfff

/**
 * Within one millisecond the 12 bits after the version count up; when they run out, or the clock steps back,
 * the minter's own time moves on by one and never back.
 */
export function createIdMinter(now: () => number): IdMinter {
  const random = new Uint8Array(4096)
  /** This buffer is reused for every id: joining twenty strings would leave twenty strings to collect. */
  const text = Buffer.from('00000000-0000-7000-8000-000000000000')
  let used = random.length
  let time = 0
  let counter = 0

  function mintId(): Id {
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
    writeHex(text, 0, Math.floor(time / 0x1_0000), 8)
    writeHex(text, 9, time % 0x1_0000, 4)
    writeHex(text, 15, counter, 3)
    writeHex(text, 19, 0x8000 | ((at(random, used) & 0x3f) << 8) | at(random, used + 1), 4)
    for (let byte = 2; byte < 8; byte++) writeHex(text, 20 + 2 * byte, at(random, used + byte), 2)
    used += 8
    return text.toString('latin1')
  }

  return Object.assign(mintId, {
    startAfter(after: number) {
      if (after < time) return
      time = after
      counter = counterMax
    },
  })
}

function writeHex(text: Buffer, start: number, value: number, length: number): void {
  for (let place = start + length - 1; place >= start; place--) {
    text[place] = at(digits, value & 0xf)
    value >>>= 4
  }
}

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] as number
}

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The last time of an id, in 2089. */
const lastTime = Date.UTC(2020) + Number.MAX_SAFE_INTEGER / 4096 - 1
const firstTooLate = (Math.floor(lastTime) + 1).toString(16).padStart(12, '0').replace(/^.{8}/, '$&-')

/** Returns whether a text is an id that a record could have: other UUIDs, such as random ones, are nearly all too late. */
export function isId(text: string): boolean {
  return pattern.test(text) && text < firstTooLate
}

/** Maximum number of records of each kind that are searched for the end of an id. */
export const maxSearched = 500
/** Fewer characters would name nearly anything. */
const minEndLength = 4

/** Returns a test for ids that the text names: the whole id, or its end. */
export function isNamedBy(text: string): (id: Id) => boolean {
  const end = text.toLowerCase()
  const isEnd = end.length >= minEndLength && /^[0-9a-f-]+$/.test(end)
  return (id) => isEnd && id.endsWith(end)
}
