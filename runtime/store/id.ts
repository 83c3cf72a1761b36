/** Mints and recognises ids: UUIDv7 (RFC 9562), monotonic within one process so that they append to every index they enter. */

import { randomUUID } from 'node:crypto'
import type { Id } from './records.ts'

export type MintId = () => Id

/** `startAfter` makes all later ids greater than those of that time: the minter of an earlier process may have been ahead of the clock. */
export type IdMinter = MintId & { startAfter(time: number): void }

const counterMax = 0xfff

/**
 * Within one millisecond the 12 bits after the version count up; when they run out, or the clock steps back,
 * the minter's own time moves on by one and never back.
 */
export function createIdMinter(now: () => number): IdMinter {
  let time = 0
  let counter = 0

  function mintId(): Id {
    const clock = now()
    if (clock > time || counter === counterMax) {
      time = Math.max(clock, time + 1)
      counter = 0
    } else {
      counter += 1
    }
    // The random half of a UUID is the same in all versions.
    return `${hexTime(time)}-7${counter.toString(16).padStart(3, '0')}-${randomUUID().slice(19)}`
  }

  return Object.assign(mintId, {
    startAfter(after: number) {
      if (after < time) return
      time = after
      counter = counterMax
    },
  })
}

function hexTime(time: number): string {
  const digits = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}

/** The smallest id of a millisecond. All ids that were minted before it sort below it. */
export function idOfTime(time: number): Id {
  return `${hexTime(time)}-0000-0000-000000000000`
}

/** Returns the millisecond in which an id was minted. */
export function timeOfId(id: Id): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The last time of an id, in 2089. */
const lastTime = Date.UTC(2020) + Number.MAX_SAFE_INTEGER / 4096 - 1
const firstTooLate = hexTime(lastTime + 1)

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
