/** The queries of the reader: pages, newest first, and single records, still serialised. */

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { OpenDeliveries, RunRecord, SessionSummary } from '../../port.ts'
import { takeRows } from '../database/bounded-rows.ts'
import { blobOfId } from '../database/id-blob.ts'
import { type Coalesced, createJoinedReader } from '../records/coalescing.ts'
import { createRouteReader } from '../records/loading.ts'
import { createTurnReader } from '../records/sessions.ts'
import { createDayReader } from '../records/spending.ts'

export type Listed = 'requests' | 'runs' | 'events' | 'deliveries'

/** The end of a page of sessions. The next one is older, or as old with a key that sorts before this one. */
export interface SessionPlace {
  readonly lastAt: number
  readonly key: string
}

/** The value wanted for each column. */
export type Filters = Readonly<Record<string, string | undefined>>

interface ListQuery {
  readonly table: Listed
  readonly filters: Filters
  readonly before?: string
  readonly limit: number
}

export interface GotRecord {
  readonly record: string
  readonly body?: Uint8Array
  readonly head?: string
  /** For a run that other requests can join or have joined. */
  readonly coalesced?: Coalesced
}

/** A page's records, newest first. `isCut` says that the page was full before it had the requested number. */
export interface GotPage {
  readonly records: readonly string[]
  readonly isCut: boolean
}

/** The most messages of a session's history in one answer. */
const mostMessages = 1_000
/** The most UTF-16 units of JSON in the records of one answer. */
const mostUnits = 4_194_304
/** The most bytes of requests with their bodies in one answer. */
const mostBytes = 16_777_216

const columns: Readonly<Record<Listed, readonly string[]>> = {
  requests: ['outcome', 'endpoint'],
  runs: ['state', 'session', 'kind'],
  events: ['state'],
  deliveries: ['state', 'channel'],
}

/** The values that a partial index leaves out. A query for another value excludes them, so that SQLite uses the index. */
const unindexed: Readonly<Record<string, readonly string[]>> = {
  'requests.outcome': ['accepted'],
  'runs.state': ['queued', 'succeeded'],
  'deliveries.state': ['delivered'],
}

export function createQueries(db: DatabaseSync) {
  const readTurns = createTurnReader(db, mostUnits)
  const joined = createJoinedReader(db)

  function list({ table, filters, before, limit }: ListQuery): GotPage {
    const conditions: string[] = []
    const values: SQLInputValue[] = []
    for (const column of columns[table]) {
      const value = filters[column]
      if (value === undefined) continue
      conditions.push(`${column} = ?`)
      values.push(value)
      const left = unindexed[`${table}.${column}`] ?? []
      if (!left.includes(value)) conditions.push(...left.map((state) => `${column} <> '${state}'`))
    }
    if (before !== undefined) {
      conditions.push('id < ?')
      values.push(blobOfId(before))
    }
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    const found = db
      .prepare(`SELECT record FROM ${table} ${where} ORDER BY id DESC LIMIT ?`)
      .iterate(...values, limit) as Iterable<{ record: string }>
    const { rows, isCut } = takeRows(found, ({ record }) => record.length, mostUnits)
    return { records: rows.map((row) => row.record), isCut }
  }

  function get(table: Listed, id: string): GotRecord | undefined {
    const more = table === 'requests' ? ', body, head' : ''
    const row = db.prepare(`SELECT record${more} FROM ${table} WHERE id = ?`).get(blobOfId(id))
    if (row === undefined) return undefined
    const got = gotOf(row as unknown as WholeRow)
    if (table !== 'runs' || !got.record.includes('"coalesce":')) return got
    const { requestId } = JSON.parse(got.record) as RunRecord
    return { ...got, coalesced: joined.coalesced(id, requestId) }
  }

  function bodies(limit: number): GotRecord[] {
    const found = db
      .prepare(
        `SELECT record, body, head FROM requests INDEXED BY requests_with_body
         WHERE body IS NOT NULL ORDER BY id DESC LIMIT ?`,
      )
      .iterate(limit) as unknown as Iterable<WholeRow>
    return takeRows(found, sizeOf, mostBytes).rows.map(gotOf)
  }

  function sessions(limit: number, before?: SessionPlace): SessionSummary[] {
    const [where, values] =
      before === undefined ? ['', []] : ['WHERE (last_at, session) < (?, ?)', [before.lastAt, before.key]]
    return db
      .prepare(
        `SELECT session AS key, turns, last_at AS lastAt FROM sessions ${where}
         ORDER BY last_at DESC, session DESC LIMIT ?`,
      )
      .all(...values, limit) as unknown as SessionSummary[]
  }

  /** Walks once through the open part of an index, which is in the order of the groups. */
  function openDeliveries(): OpenDeliveries[] {
    const rows = db
      .prepare(
        `SELECT state, channel, count(*) AS count FROM deliveries
         WHERE state IN ('pending', 'parked') AND state <> 'delivered' GROUP BY state, channel`,
      )
      .all() as unknown as { state: 'pending' | 'parked'; channel: string; count: number }[]
    const open = new Map<string, OpenDeliveries>()
    for (const { state, channel, count } of rows) {
      const counts = open.get(channel) ?? { channel, pending: 0, parked: 0 }
      open.set(channel, { ...counts, [state]: count })
    }
    return [...open.values()]
  }

  return {
    list,
    get,
    bodies,
    sessions,
    openDeliveries,
    turns: (session: string) => readTurns(session, mostMessages),
    route: createRouteReader(db),
    spent: createDayReader(db),
  }
}

/** The queries, each of which the main thread calls by its name. */
export type Queries = ReturnType<typeof createQueries>

interface WholeRow {
  readonly record: string
  readonly body?: Uint8Array | null
  readonly head?: string | null
}

function gotOf({ record, body, head }: WholeRow): GotRecord {
  return { record, ...(body != null && { body }), ...(head != null && { head }) }
}

function sizeOf({ record, body, head }: WholeRow): number {
  return record.length + (body?.length ?? 0) + (head?.length ?? 0)
}
