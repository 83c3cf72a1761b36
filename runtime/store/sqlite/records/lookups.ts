/**
 * Finds requests by the facts that lists filter by, without an index that each accept would pay for. Requests are divided into
 * blocks of about four seconds. For each block the index names the values that occur in it, and a search walks through those
 * blocks alone. The index is written in the background, some minutes later; what it does not cover yet is walked through.
 */

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { placeOfTime } from '../database/ids.ts'

/** The columns of a request that the index covers. A search goes by the first of them, whose values are likely to occur least. */
export const lookupColumns = [
  'delivery',
  'code',
  'mapping',
  'client',
  'endpoint',
  'generation',
  'digest',
  'node',
] as const

export type LookupColumn = (typeof lookupColumns)[number]

/** Places in a block: a millisecond has 4,096, so this is 4,096 ms. */
const blockSize = 2 ** 24
/** Requests are indexed when they are this old, in milliseconds: nearly all that were received by then are on disk. */
const lagMs = 120_000
/** How many requests one call of `indexSome` examines. */
const stride = 100

export type Lookups = ReturnType<typeof createLookups>

export function createLookups(db: DatabaseSync) {
  const names = lookupColumns.join(', ')
  const selectIndexed = db.prepare('SELECT place FROM lookups_until')
  const updateIndexed = db.prepare('UPDATE lookups_until SET place = ?')
  const selectNext = db.prepare(
    `SELECT place, ${names} FROM requests WHERE place >= ? AND place < ? ORDER BY place LIMIT ${stride}`,
  )
  const insert = db.prepare('INSERT INTO lookups VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const selectOldest = db.prepare('SELECT min(place) AS place FROM requests')
  const removeOld = db.prepare(
    `DELETE FROM lookups WHERE (name, value, block) IN
     (SELECT name, value, block FROM lookups WHERE block < ? ORDER BY block LIMIT ${stride})`,
  )

  /** A copy of the committed row, or of that of the running transaction. */
  let indexedUntil = readIndexed()

  function readIndexed(): number {
    return (selectIndexed.get() as { place: number }).place
  }

  function index(rows: readonly Row[]): void {
    const known = new Set<string>()
    for (const row of rows) {
      const block = Math.floor(row.place / blockSize)
      for (const name of lookupColumns) {
        const value = row[name]
        if (value === null) continue
        const key = `${block} ${name} ${value}`
        if (known.has(key)) continue
        known.add(key)
        insert.run(name, value, block)
      }
    }
  }

  return {
    /** Indexes the next requests. Returns false once all old ones are indexed. */
    indexSome(now: number): boolean {
      const from = indexedUntil
      const until = Math.floor(placeOfTime(now - lagMs) / blockSize) * blockSize
      if (from >= until) return false
      const rows = selectNext.all(from, until) as unknown as Row[]
      index(rows)
      const last = rows.at(-1)
      const isWhole = rows.length < stride || last === undefined
      indexedUntil = isWhole ? until : last.place + 1
      updateIndexed.run(indexedUntil)
      return !isWhole
    },

    /** Returns whether the requests around a place are indexed already. */
    covers: (place: number): boolean => place < indexedUntil,

    /** Indexes a request that came to a place that was indexed before: its answer took minutes, or the clock was set back. */
    indexLate(place: number) {
      index(selectNext.all(place, place + 1) as unknown as Row[])
    },

    /** Deletes some of what leads to requests that are gone. Returns whether there may be more. */
    forgetSome(): boolean {
      const oldest = (selectOldest.get() as { place: number | null }).place
      return oldest !== null && Number(removeOld.run(Math.floor(oldest / blockSize)).changes) === stride
    },

    /** Reads again what is indexed, because a transaction was undone. */
    forget() {
      indexedUntil = readIndexed()
    },
  }
}

type Row = { readonly place: number } & {
  readonly [Name in LookupColumn]: string | number | null | Uint8Array
}

/**
 * Returns the ranges of places that may hold requests with this value, the newest first: what is not indexed yet, and the blocks
 * that the index names. Each range is from its first number up to its second.
 */
export function* rangesWith(
  db: DatabaseSync,
  name: LookupColumn,
  value: SQLInputValue,
  before: number,
): Iterable<readonly [from: number, until: number]> {
  const { place: indexed } = db.prepare('SELECT place FROM lookups_until').get() as { place: number }
  if (indexed < before) yield [indexed, before]
  const blocks = db
    .prepare('SELECT block FROM lookups WHERE name = ? AND value = ? AND block < ? ORDER BY block DESC')
    .iterate(name, value, Math.ceil(Math.min(before, indexed) / blockSize)) as unknown as Iterable<{
    block: number
  }>
  for (const { block } of blocks) {
    yield [block * blockSize, Math.min((block + 1) * blockSize, before, indexed)]
  }
}
