/**
 * Converts ids to their form on disk and back. A row holds all 16 bytes of the id, and is kept at a place: an integer made of
 * the id's millisecond and counter, in the order of the ids.
 */

import type { DatabaseSync } from 'node:sqlite'
import { lastTime } from '../../id.ts'
import type { Id } from '../../port.ts'

/** Places count from the beginning of 2020, and stay exact in a number until 2089. */
export const epoch = Date.UTC(2020)
/** How many ids a process mints in one millisecond: UUIDv7 has 12 bits for their counter (RFC 9562, section 6.2). */
export const placesInMs = 4096

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

/** Returns the place of a record with this id. @throws RangeError for an id that was minted after 2089 */
export function placeOfBlob(blob: Uint8Array): number {
  const [high, low] = [word(blob, 0), word(blob, 2) * 0x1_0000 + word(blob, 4)]
  const time = high * 0x1_0000_0000 + low
  if (time > lastTime) throw new RangeError('an id must be a UUIDv7 of a time before 2089')
  return placeOfTime(time) + (word(blob, 6) & 0xfff)
}

/** Returns the first place of a millisecond. All ids that were minted before it have lower places. */
export function placeOfTime(time: number): number {
  return (Math.floor(time) - epoch) * placesInMs
}

/** Returns the millisecond to which a place belongs. */
export function timeOfPlace(place: number): number {
  return Math.floor(place / placesInMs) + epoch
}

/** Returns the smallest id of a millisecond. All ids that were minted before it sort below it. */
export function blobOfTime(time: number): Uint8Array {
  const blob = Buffer.alloc(16)
  blob.writeUIntBE(Math.max(0, Math.floor(time)), 0, 6)
  return blob
}

/** Returns the time of the newest id that a table holds; 0 if there is none. */
export function newestTime(db: DatabaseSync): number {
  const greatest = (table: string) =>
    db.prepare(`SELECT max(place) AS place FROM ${table}`).get() as { place: number | null }
  const delivery = db.prepare('SELECT max(id) AS id FROM deliveries').get() as { id: Uint8Array | null }
  const places = ['requests', 'runs', 'events'].map((table) => greatest(table).place)
  if (delivery.id !== null) places.push(placeOfBlob(delivery.id))
  return Math.max(0, ...places.map((place) => (place === null ? 0 : timeOfPlace(place))))
}

function word(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number)
}

export type PlaceFinder = (id: Uint8Array) => number | undefined

/**
 * Finds columns of a record. Its place is nearly always the one that the id names. A record that was copied from another store
 * may be at any place of the same millisecond, because its own was taken.
 */
export function createRowFinder<Row>(
  db: DatabaseSync,
  table: string,
  columns: readonly string[],
): (id: Uint8Array) => Row | undefined {
  const select = `SELECT ${columns.join(', ')} FROM ${table}`
  const exact = db.prepare(`${select} WHERE place = ? AND id = ?`)
  const near = db.prepare(`${select} WHERE place >= ? AND place < ? AND id = ?`)
  return (id) => {
    const place = placeOfBlob(id)
    const found = exact.get(place, id)
    if (found !== undefined) return found as Row
    const first = placeOfTime(timeOfPlace(place))
    return near.get(first, first + placesInMs, id) as Row | undefined
  }
}

export function createPlaceFinder(db: DatabaseSync, table: string): PlaceFinder {
  const find = createRowFinder<{ readonly place: number }>(db, table, ['place'])
  return (id) => find(id)?.place
}

/** Says whether a record is there. For one that is not, which is nearly always so, it asks once where a finder asks twice. */
export function createPresence(db: DatabaseSync, table: string): (id: Uint8Array) => boolean {
  const near = db.prepare(`SELECT 1 FROM ${table} WHERE place >= ? AND place < ? AND id = ?`)
  return (id) => {
    const first = placeOfTime(timeOfPlace(placeOfBlob(id)))
    return near.get(first, first + placesInMs, id) !== undefined
  }
}

/** Returns a place for a copied record: its own, or a free one of the same millisecond. */
export function createFreePlaces(db: DatabaseSync, table: string): (id: Uint8Array) => number {
  const taken = db.prepare(`SELECT 1 FROM ${table} WHERE place = ?`)
  return (id) => {
    const own = placeOfBlob(id)
    const first = placeOfTime(timeOfPlace(own))
    for (let tried = 0; tried < placesInMs; tried++) {
      const place = first + ((own - first + tried) % placesInMs)
      if (taken.get(place) === undefined) return place
    }
    throw new RangeError(`more than ${placesInMs} records have ids of one millisecond`)
  }
}
