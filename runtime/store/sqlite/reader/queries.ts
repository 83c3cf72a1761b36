/** The queries of the reader: pages, newest first, and single records, still serialised. */

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { takeRows } from '../../bounded-rows.ts'
import type { OpenDeliveries, OpenRuns, RunRecord, SessionMessage, SessionSummary } from '../../port.ts'
import {
  type Filters,
  type GotPage,
  type GotRecord,
  type Listed,
  type ListQuery,
  mostAheadMs,
  mostBytes,
  mostMessages,
  mostUnits,
  type Queries,
  type SessionPlace,
} from '../../reading.ts'
import {
  blobOfId,
  createPlaceFinder,
  idOfBlob,
  type PlaceFinder,
  placeOfBlob,
  placeOfTime,
} from '../database/ids.ts'
import { createJoinedReader } from '../records/coalescing.ts'
import { eventColumns, eventOf } from '../records/events.ts'
import { createIssueReader } from '../records/issues.ts'
import { createJobReader } from '../records/jobs.ts'
import { createRouteReader } from '../records/loading.ts'
import { type LookupColumn, lookupColumns, rangesWith } from '../records/lookups.ts'
import { listedColumns, type RequestRow, requestOf } from '../records/requests.ts'
import { runColumns, runOf } from '../records/runs.ts'
import { createTurnReader } from '../records/sessions.ts'
import { createCostReader, createDayReader } from '../records/spending.ts'
import { createFinder } from './find.ts'

/** The records of a page or an answer, still serialised. */
interface JsonPage extends GotPage {
  readonly records: readonly string[]
}
interface JsonRecord extends GotRecord {
  readonly record: string
}

/** How the rows of a table are selected, in which order, and how each becomes a record. */
interface Form {
  readonly columns: string
  readonly filters: readonly string[]
  readonly order: 'place' | 'id'
  readonly recordOf: (row: never) => unknown
}

const forms: Readonly<Record<Listed, Form>> = {
  requests: {
    columns: listedColumns,
    filters: ['outcome', 'replay_of', ...lookupColumns],
    order: 'place',
    recordOf: requestOf,
  },
  runs: {
    columns: ['id', ...runColumns].join(', '),
    filters: ['state', 'session', 'kind', 'endpoint'],
    order: 'place',
    recordOf: runOf,
  },
  events: {
    columns: ['id', ...eventColumns, 'forgotten_at'].join(', '),
    filters: ['state'],
    order: 'place',
    recordOf: eventOf,
  },
  deliveries: {
    columns: 'record',
    filters: ['state', 'channel'],
    order: 'id',
    recordOf: ({ record }: { record: string }) => JSON.parse(record),
  },
}

/** Where a value that a list is filtered by stands, if it has no column of its own. */
const places: Readonly<Record<string, string>> = { 'runs.endpoint': "draft ->> '$.endpoint'" }

/** The values that a partial index leaves out. A query for another value excludes them, so that SQLite uses the index. */
const unindexed: Readonly<Record<string, readonly string[]>> = {
  'requests.outcome': ['accepted'],
  'runs.state': ['queued', 'succeeded'],
  'deliveries.state': ['delivered'],
}

/** Each query is called by its name, from the main thread. */
export function createQueries(db: DatabaseSync) {
  const readTurns = createTurnReader(db, mostUnits)
  const joined = createJoinedReader(db)
  const find: Partial<Record<Listed, PlaceFinder>> = {
    requests: createPlaceFinder(db, 'requests'),
    runs: createPlaceFinder(db, 'runs'),
    events: createPlaceFinder(db, 'events'),
  }

  function list(query: ListQuery): JsonPage {
    const { table, limit, filters } = query
    const { columns, order, recordOf } = forms[table]
    const lookup = table === 'requests' && !isIndexed(filters) ? lookupIn(filters) : undefined
    if (lookup !== undefined) return pageOf(requestsWith(lookup, query), requestOf)
    const { conditions, values } = conditionsOf(query)
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    // An original has few replays, and an outcome may have many requests.
    const by = filters['replay_of'] === undefined ? '' : 'INDEXED BY requests_by_original'
    const found = db
      .prepare(`SELECT ${columns} FROM ${table} ${by} ${where} ORDER BY ${order} DESC LIMIT ?`)
      .iterate(...values, limit) as Iterable<never>
    return pageOf(found, recordOf)
  }

  /** Walks through the parts of the table that may hold the value, the newest first. */
  function* requestsWith(lookup: LookupColumn, query: ListQuery): Iterable<RequestRow> {
    const { conditions, values } = conditionsOf(query)
    const select = db.prepare(
      `SELECT ${listedColumns} FROM requests WHERE ${conditions.join(' AND ')} AND place >= ? AND place < ?
       ORDER BY place DESC LIMIT ?`,
    )
    const before = query.before === undefined ? Number.MAX_SAFE_INTEGER : placeOf('requests', query.before)
    const [first, last] = placesOf(query)
    const wanted = columnValue(lookup, query.filters[lookup] ?? '')
    let left = query.limit
    for (const [from, until] of rangesWith(db, lookup, wanted, Math.min(before, last))) {
      if (until <= first) return
      for (const row of select.iterate(...values, from, until, left) as unknown as Iterable<RequestRow>) {
        left -= 1
        yield row
      }
      if (left === 0) return
    }
  }

  function conditionsOf(query: ListQuery) {
    const { table, filters, before, since, until } = query
    const { filters: known, order } = forms[table]
    const conditions: string[] = []
    const values: SQLInputValue[] = []
    const [first, last] = placesOf(query)
    if (since !== undefined) {
      conditions.push('place >= ?', 'received_at >= ?')
      values.push(first, since)
    }
    if (until !== undefined) {
      conditions.push('place < ?', 'received_at < ?')
      values.push(last, until)
    }
    for (const column of known) {
      const value = filters[column]
      if (value === undefined) continue
      if (table === 'events') {
        conditions.push(value === 'pending' ? 'pending = 1' : 'pending IS NULL')
        continue
      }
      conditions.push(`${places[`${table}.${column}`] ?? column} = ?`)
      values.push(columnValue(column, value))
      const left = unindexed[`${table}.${column}`] ?? []
      if (!left.includes(value)) conditions.push(...left.map((state) => `${column} <> '${state}'`))
    }
    if (before !== undefined) {
      conditions.push(`${order} < ?`)
      values.push(order === 'id' ? blobOfId(before) : placeOf(table, before))
    }
    return { conditions, values }
  }

  function placeOf(table: Listed, text: string): number {
    const id = blobOfId(text)
    return find[table]?.(id) ?? placeOfBlob(id)
  }

  function rowOf(table: Listed, id: Uint8Array): unknown {
    const { columns, order } = forms[table]
    const key = order === 'id' ? id : find[table]?.(id)
    if (key === undefined) return undefined
    const more =
      table === 'requests'
        ? ', body, head, (SELECT trace FROM traces WHERE traces.place = requests.place) AS trace'
        : ''
    return db.prepare(`SELECT ${columns}${more} FROM ${table} WHERE ${order} = ?`).get(key)
  }

  function get(table: Listed, id: string): GotRecord | undefined {
    const row = rowOf(table, blobOfId(id))
    if (row === undefined) return undefined
    if (table === 'requests') return gotOf(row as WholeRow)
    const record = forms[table].recordOf(row as never) as RunRecord
    const got = { record: JSON.stringify(record) }
    if (table !== 'runs' || record.coalesce === undefined) return got
    const coalesced = joined.coalesced(id, record.requestId)
    return record.state === 'cancelled'
      ? { ...got, coalesced, joined: joined.messages(id) }
      : { ...got, coalesced }
  }

  function bodies(limit: number): JsonRecord[] {
    const found = db
      .prepare(
        `SELECT ${listedColumns}, body, head FROM requests INDEXED BY requests_with_body
         WHERE body IS NOT NULL ORDER BY place DESC LIMIT ?`,
      )
      .iterate(limit) as unknown as Iterable<WholeRow>
    return takeRows(Iterator.from(found).map(gotOf), sizeOf, mostBytes).rows
  }

  function replaysOf(ids: readonly string[]): string[] {
    const select = db.prepare('SELECT id FROM requests INDEXED BY requests_by_original WHERE replay_of = ?')
    return ids.flatMap((id) =>
      (select.all(blobOfId(id)) as unknown as { id: Uint8Array }[]).map((row) => idOfBlob(row.id)),
    )
  }

  function sessions(limit: number, before?: SessionPlace): SessionSummary[] {
    // The index has the sessions with a generated key apart from the others.
    const newest = (madeUp: 0 | 1) =>
      `SELECT * FROM (SELECT session, turns, last_at FROM sessions
       WHERE made_up = ${madeUp} AND (last_at, session) < (?1, ?2) ORDER BY last_at DESC, session DESC LIMIT ?3)`
    return db
      .prepare(
        `SELECT session AS key, turns, last_at AS lastAt FROM (${newest(0)} UNION ALL ${newest(1)})
         ORDER BY last_at DESC, session DESC LIMIT ?3`,
      )
      .all(before?.lastAt ?? Number.MAX_SAFE_INTEGER, before?.key ?? '', limit) as unknown as SessionSummary[]
  }

  function newestMessages(session: string): SessionMessage[] {
    const turns = readTurns(session, mostMessages)
    return turns.flatMap(({ messages }): SessionMessage[] => JSON.parse(messages)).slice(-mostMessages)
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

  /** Runs that wait are counted by their tasks, as no index leads to them alone. */
  function openRuns(): OpenRuns {
    const count = (sql: string) => (db.prepare(sql).get() as { count: number }).count
    const inState = (state: string) =>
      count(
        `SELECT count(*) AS count FROM runs WHERE state = '${state}' AND state <> 'queued' AND state <> 'succeeded'`,
      )
    const running = inState('running')
    const unsettled = count("SELECT count(*) AS count FROM tasks WHERE kind = 'run'")
    return { queued: Math.max(0, unsettled - running), running, parked: inState('parked') }
  }

  return {
    list,
    get,
    bodies,
    replaysOf,
    sessions,
    openDeliveries,
    openRuns,
    turns: (session: string) => newestMessages(session),
    route: createRouteReader(db),
    spent: createDayReader(db),
    costs: createCostReader(db),
    ...createJobReader(db),
    ...createIssueReader(db),
    find: createFinder(db, (filters, limit) =>
      list({ table: 'requests', filters, limit }).records.map((record) => JSON.parse(record)),
    ),
  } satisfies Queries
}

function pageOf<Row>(rows: Iterable<Row>, recordOf: (row: Row) => unknown): JsonPage {
  const texts = Iterator.from(rows).map((row) => JSON.stringify(recordOf(row)))
  const { rows: records, isCut } = takeRows(texts, (text) => text.length, mostUnits)
  return { records, isCut }
}

/** Returns the first place that a request since then may have, and the first one that is too late for it. */
function placesOf({ since, until }: ListQuery): readonly [first: number, last: number] {
  return [
    since === undefined ? Number.MIN_SAFE_INTEGER : placeOfTime(since),
    until === undefined ? Number.MAX_SAFE_INTEGER : placeOfTime(until + mostAheadMs),
  ]
}

/** Requests with a rare outcome, and the replays of one request, are found by indexes of their own. */
function isIndexed({ outcome, replay_of }: Filters): boolean {
  return replay_of !== undefined || (outcome !== undefined && outcome !== 'accepted')
}

function lookupIn(filters: Filters): LookupColumn | undefined {
  return lookupColumns.find((name) => filters[name] !== undefined)
}

function columnValue(column: string, value: string): SQLInputValue {
  if (column === 'replay_of') return blobOfId(value)
  return column === 'generation' ? Number(value) : value
}

interface WholeRow extends RequestRow {
  readonly body: Uint8Array | null
  readonly head: string | null
}

function gotOf({ body, head, trace, kept: _kept, ...row }: WholeRow): JsonRecord {
  return {
    record: JSON.stringify(requestOf(row)),
    ...(body !== null && { body }),
    ...(head !== null && { head }),
    ...(trace != null && { trace }),
  }
}

function sizeOf({ record, body, head }: JsonRecord): number {
  return record.length + (body?.length ?? 0) + (head?.length ?? 0)
}
