/** Owns the queries of the read side: pages, newest first, and single records, still serialised. */

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Route, SessionMessage } from '../port.ts'
import { blobOfId } from './blob.ts'
import { takeRows } from './bounded-rows.ts'
import { createRouteReader } from './loading.ts'
import { createTurnReader } from './turns.ts'

export type Listed = 'requests' | 'runs' | 'events' | 'deliveries'

/** Column -> value. */
export type Filters = Readonly<Record<string, string | undefined>>

export type Query =
  | {
      readonly type: 'list'
      readonly table: Listed
      readonly filters: Filters
      readonly before?: string
      readonly limit: number
    }
  | { readonly type: 'get'; readonly table: Listed; readonly id: string }
  | { readonly type: 'session'; readonly key: string }
  | { readonly type: 'route' }

export interface GotRecord {
  readonly record: string
  readonly body?: Uint8Array
}

/** A page's records, newest first; `isCut` where the page is full before it has as many as were asked for. */
export interface GotPage {
  readonly records: readonly string[]
  readonly isCut: boolean
}

/** Of a session's history, in one answer. */
const mostMessages = 1_000
/** Of one answer's records. UTF-16 units of JSON. */
const mostUnits = 4_194_304

export type RunQuery = (query: Query) => GotPage | GotRecord | SessionMessage[] | Route | undefined

const columns: Readonly<Record<Listed, readonly string[]>> = {
  requests: ['outcome', 'endpoint'],
  runs: ['state', 'session', 'kind'],
  events: ['state'],
  deliveries: ['state'],
}

/** The values that a partial index leaves out; the others are asked for in the words that let SQLite use it. */
const unindexed: Readonly<Record<string, readonly string[]>> = {
  'requests.outcome': ['accepted'],
  'runs.state': ['queued', 'succeeded'],
  'deliveries.state': ['delivered'],
}

export function createReading(db: DatabaseSync): RunQuery {
  const readTurns = createTurnReader(db, mostUnits)
  const readRoute = createRouteReader(db)

  function list({ table, filters, before, limit }: Query & { type: 'list' }): GotPage {
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
    const { rows, isCut } = takeRows(found, 'record', mostUnits)
    return { records: rows.map((row) => row.record), isCut }
  }

  function get(table: Listed, id: string): GotRecord | undefined {
    const body = table === 'requests' ? ', body' : ''
    const row = db.prepare(`SELECT record${body} FROM ${table} WHERE id = ?`).get(blobOfId(id)) as
      | { record: string; body?: Uint8Array | null }
      | undefined
    if (row === undefined) return undefined
    return row.body == null ? { record: row.record } : { record: row.record, body: row.body }
  }

  return (query) => {
    switch (query.type) {
      case 'list':
        return list(query)
      case 'get':
        return get(query.table, query.id)
      case 'session':
        return readTurns(query.key, mostMessages)
      case 'route':
        return readRoute()
    }
  }
}
