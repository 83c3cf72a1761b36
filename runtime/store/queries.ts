/** The queries of the reader: pages, newest first, and single records. */

import type { SqlValue, Statements } from '@reveille/kit'
import { readRoute } from './commands.ts'
import { isId, isNamedBy, mostSearched } from './id.ts'
import type { FoundRecord, Id, OpenDeliveries, OpenRuns, RunRecord, SessionSummary } from './port.ts'
import {
  type Filters,
  type GotPage,
  type GotRecord,
  generationIn,
  type Listed,
  type ListQuery,
  mostAheadMs,
  mostBytes,
  mostFound,
  mostMessages,
  mostUnits,
  type Queries,
  type SessionPlace,
} from './reading.ts'
import { readCoalesced, readJoinedMessages } from './records/coalescing.ts'
import { readIssue, readIssues } from './records/issues.ts'
import { readJob, readJobItems, readJobs } from './records/jobs.ts'
import { type LookupColumn, lookupColumns, rangesWith } from './records/lookups.ts'
import {
  columnOfText,
  eventOf,
  idOfTime,
  listedRequest,
  type RequestRow,
  requestOf,
  runOf,
  textOfColumn,
  wholeEvent,
  wholeRequest,
  wholeRun,
} from './records/rows.ts'
import { readMessages } from './records/sessions.ts'
import { readCosts, readDay } from './records/spending.ts'

/** What is selected of a table, and how a row becomes a record. */
interface Form {
  readonly columns: string
  readonly filters: readonly string[]
  /** The values that a partial index leaves out. A query for another value excludes them, so that SQLite uses the index. */
  readonly unindexed: Readonly<Record<string, readonly string[]>>
  readonly recordOf: (row: never) => unknown
}

const forms: Readonly<Record<Listed, Form>> = {
  requests: {
    columns: listedRequest,
    filters: [
      'outcome',
      'endpoint',
      'mapping',
      'code',
      'client',
      'delivery',
      'replay_of',
      'generation',
      'digest',
      'node',
    ],
    unindexed: { outcome: ['accepted'] },
    recordOf: requestOf,
  },
  runs: {
    columns: wholeRun,
    filters: ['state', 'session', 'kind', 'endpoint'],
    unindexed: { state: ['queued', 'succeeded'] },
    recordOf: runOf,
  },
  events: { columns: wholeEvent, filters: ['state'], unindexed: {}, recordOf: eventOf },
  deliveries: {
    columns: 'id, record',
    filters: ['state', 'channel'],
    unindexed: { state: ['delivered'] },
    recordOf: ({ record }: { record: string }) => JSON.parse(record),
  },
}

/** How long before its time of arrival a request may get its id. Milliseconds. */
const maxBehindMs = 60_000

/** How many rows are read at one time. The records of a page may be large. */
const rowsPerRead = 64

function conditionsOf({ table, filters, before, since, until, from }: ListQuery & { readonly from?: Id }) {
  const conditions: string[] = []
  const values: SqlValue[] = []
  const add = (condition: string, value: SqlValue) => {
    values.push(value)
    conditions.push(condition.replace('?', `?${values.length}`))
  }
  if (since !== undefined) {
    add('id >= ?', idOfTime(since - maxBehindMs))
    add('received_at >= ?', since)
  }
  if (until !== undefined) {
    add('id < ?', idOfTime(until + mostAheadMs))
    add('received_at < ?', until)
  }
  for (const column of forms[table].filters) {
    const value = filters[column]
    if (value === undefined) continue
    if (table === 'events') conditions.push(value === 'pending' ? 'pending = 1' : 'pending IS NULL')
    else add(`${column} = ?`, columnValue(column, value))
    const left = forms[table].unindexed[column] ?? []
    // An original has few replays, and an outcome may have many requests.
    if (!left.includes(value) && filters['replay_of'] === undefined)
      conditions.push(...left.map((state) => `${column} <> '${state}'`))
  }
  if (before !== undefined) add('id < ?', before)
  if (from !== undefined) add('id >= ?', from)
  return { conditions, values }
}

function columnValue(column: string, value: string): SqlValue {
  if (column === 'replay_of') return value
  return column === 'generation' ? Number(value) : columnOfText(value)
}

async function list(statements: Statements, query: ListQuery): Promise<GotPage> {
  const page: Page = { records: [], units: 0 }
  const name = query.table === 'requests' && !isIndexed(query.filters) ? lookupIn(query.filters) : undefined
  if (name === undefined) return { records: page.records, isCut: await readInto(page, statements, query) }
  const wanted = columnOfText(query.filters[name] ?? '')
  const oldest = query.since === undefined ? undefined : idOfTime(query.since - maxBehindMs)
  for await (const [from, until] of rangesWith(statements, name, wanted, query.before)) {
    if (page.records.length >= query.limit || (oldest !== undefined && until !== undefined && until < oldest))
      break
    const part = { ...query, from, ...(until !== undefined && { before: until }) }
    if (await readInto(page, statements, part)) return { records: page.records, isCut: true }
  }
  return { records: page.records, isCut: false }
}

interface Page {
  readonly records: unknown[]
  /** UTF-16 units of their JSON. */
  units: number
}

/** Requests with a rare outcome, and the replays of one request, are found by indexes of their own. */
function isIndexed({ outcome, replay_of }: Filters): boolean {
  return replay_of !== undefined || (outcome !== undefined && outcome !== 'accepted')
}

function lookupIn(filters: Filters): LookupColumn | undefined {
  return lookupColumns.find((name) => filters[name] !== undefined)
}

/** Adds records to a page until it has as many as were asked for. Returns whether it was cut before that. */
async function readInto(
  page: Page,
  { all }: Statements,
  query: ListQuery & { readonly from?: Id },
): Promise<boolean> {
  const { columns, recordOf } = forms[query.table]
  let before = query.before
  while (page.records.length < query.limit) {
    const { conditions, values } = conditionsOf({ ...query, ...(before !== undefined && { before }) })
    const limit = Math.min(rowsPerRead, query.limit - page.records.length)
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    const rows = await all<{ id: Id; record: string }>(
      `SELECT ${columns} FROM ${query.table} ${where} ORDER BY id DESC LIMIT ${limit}`,
      values,
    )
    for (const row of rows) {
      page.units += row.record.length
      if (page.units > mostUnits && page.records.length > 0) return true
      page.records.push(recordOf(row as never))
    }
    before = rows.at(-1)?.id
    if (rows.length < limit) return false
  }
  return false
}

async function get(statements: Statements, table: Listed, id: Id): Promise<GotRecord | undefined> {
  const columns = table === 'requests' ? wholeRequest : forms[table].columns
  const [row] = await statements.all(`SELECT ${columns} FROM ${table} WHERE id = ?1`, [id])
  if (row === undefined) return undefined
  if (table === 'requests') return gotOf(row as RequestRow)
  const record = forms[table].recordOf(row as never) as RunRecord
  if (table !== 'runs' || record.coalesce === undefined) return { record }
  const coalesced = await readCoalesced(statements, id, record.requestId)
  return {
    record,
    ...(coalesced && { coalesced }),
    ...(record.state === 'cancelled' && { joined: await readJoinedMessages(statements, id) }),
  }
}

function gotOf({ body, head, trace, ...row }: RequestRow): GotRecord {
  return {
    record: requestOf(row),
    ...(body != null && { body }),
    ...(head != null && { head }),
    ...(trace != null && { trace }),
  }
}

async function bodies({ all }: Statements, limit: number): Promise<GotRecord[]> {
  const got: GotRecord[] = []
  let bytes = 0
  let before = '~'
  while (got.length < limit) {
    const rows = await all<RequestRow & { readonly kept: number }>(
      `SELECT ${wholeRequest}, kept FROM requests WHERE kept IS NOT NULL AND body IS NOT NULL ${before === '~' ? '' : 'AND id < ?1'}
       ORDER BY id DESC LIMIT ${Math.min(8, limit - got.length)}`,
      before === '~' ? [] : [before],
    )
    for (const { kept, ...row } of rows) {
      bytes += kept + row.record.length
      if (bytes > mostBytes && got.length > 0) return got
      got.push(gotOf(row))
    }
    const last = rows.at(-1)
    if (last === undefined) return got
    before = last.id
  }
  return got
}

async function sessions(
  { all }: Statements,
  limit: number,
  before?: SessionPlace,
): Promise<SessionSummary[]> {
  // The index has the sessions with a generated key apart from the others.
  const newest = (isGenerated: 0 | 1) =>
    all<{ session: string; turns: number; last_at: number }>(
      `SELECT session, turns, last_at FROM sessions WHERE is_generated = ${isGenerated} AND (last_at, session) < (?1, ?2)
       ORDER BY last_at DESC, session DESC LIMIT ?3`,
      [before?.lastAt ?? Number.MAX_SAFE_INTEGER, columnOfText(before?.key ?? ''), limit],
    )
  const rows = [...(await newest(0)), ...(await newest(1))]
  return rows
    .toSorted((a, b) => b.last_at - a.last_at || (a.session < b.session ? 1 : -1))
    .slice(0, limit)
    .map(({ session, turns, last_at }) => ({ key: textOfColumn(session), turns, lastAt: last_at }))
}

async function openDeliveries({ all }: Statements): Promise<OpenDeliveries[]> {
  const rows = await all<{ state: 'pending' | 'parked'; channel: string; count: number }>(
    `SELECT state, channel, count(*) AS count FROM deliveries
     WHERE state IN ('pending', 'parked') AND state <> 'delivered' GROUP BY state, channel`,
  )
  const open = new Map<string, OpenDeliveries>()
  for (const { state, channel, count } of rows) {
    const counts = open.get(channel) ?? { channel: textOfColumn(channel), pending: 0, parked: 0 }
    open.set(channel, { ...counts, [state]: Number(count) })
  }
  return [...open.values()]
}

/** Runs that wait are counted by their tasks, as no index leads to them alone. */
async function openRuns({ all }: Statements): Promise<OpenRuns> {
  const count = async (sql: string) => Number((await all<{ count: number }>(sql))[0]?.count ?? 0)
  const inState = (state: string) =>
    count(
      `SELECT count(*) AS count FROM runs WHERE state = '${state}' AND state <> 'queued' AND state <> 'succeeded'`,
    )
  const running = await inState('running')
  const unsettled = await count("SELECT count(*) AS count FROM tasks WHERE kind = 'run'")
  return { queued: Math.max(0, unsettled - running), running, parked: await inState('parked') }
}

async function replaysOf({ all }: Statements, ids: readonly Id[], among: string): Promise<Id[]> {
  const rows = await all<{ id: Id }>(
    `SELECT id FROM requests WHERE replay_of IN ${among} AND replay_of IS NOT NULL`,
    [ids],
  )
  return rows.map(({ id }) => id)
}

/** Finds what a pasted text names: an id or its end, a sender's id of a delivery, a session, a generation. */
async function find(statements: Statements, text: string): Promise<readonly FoundRecord[]> {
  if (text === '') return []
  const found = new Map<string, FoundRecord>()
  for (const search of [byWholeId, bySession, byDeliveryId, byGeneration, byEnd]) {
    for (const each of await search(statements, text)) found.set(`${each.kind} ${each.id}`, each)
    // A whole id has an end of its own, which names nothing else.
    if (found.size >= mostFound || (isId(text.toLowerCase()) && found.size > 0)) break
  }
  return [...found.values()].slice(0, mostFound)
}

const kinds = [
  { kind: 'request', table: 'requests' },
  { kind: 'run', table: 'runs' },
  { kind: 'event', table: 'events' },
  { kind: 'delivery', table: 'deliveries' },
] as const

async function byWholeId({ all }: Statements, text: string): Promise<FoundRecord[]> {
  const id = text.toLowerCase()
  if (!isId(id)) return []
  const found: FoundRecord[] = []
  for (const { kind, table } of kinds)
    if ((await all(`SELECT 1 FROM ${table} WHERE id = ?1`, [id])).length > 0) found.push({ kind, id })
  return found
}

/** A session has a row once it has a turn. Before, its runs name it. */
async function bySession({ all }: Statements, text: string): Promise<FoundRecord[]> {
  for (const table of ['sessions', 'runs'])
    if ((await all(`SELECT 1 FROM ${table} WHERE session = ?1 LIMIT 1`, [columnOfText(text)])).length > 0)
      return [{ kind: 'session', id: text }]
  return []
}

async function newestRequests(statements: Statements, filters: Filters, limit: number) {
  return (await list(statements, { table: 'requests', filters, limit })).records as {
    id: Id
    generation: number
  }[]
}

async function byDeliveryId(statements: Statements, delivery: string): Promise<FoundRecord[]> {
  const requests = await newestRequests(statements, { delivery }, mostFound)
  return requests.map(({ id }) => ({ kind: 'request', id }))
}

async function byGeneration(statements: Statements, text: string): Promise<FoundRecord[]> {
  const filters = generationIn(text)
  const [newest] = filters ? await newestRequests(statements, filters, 1) : []
  return newest === undefined ? [] : [{ kind: 'generation', id: `${newest.generation}` }]
}

async function byEnd({ all }: Statements, text: string): Promise<FoundRecord[]> {
  const isWanted = isNamedBy(text)
  const found: FoundRecord[] = []
  for (const { kind, table } of kinds) {
    const rows = await all<{ id: Id }>(`SELECT id FROM ${table} ORDER BY id DESC LIMIT ${mostSearched}`)
    for (const { id } of rows) if (isWanted(id)) found.push({ kind, id })
  }
  return found
}

/** Makes the queries of a database; `among` is that of its dialect. */
export function createQueries(
  statements: Statements,
  among: (parameter: string, type: 'id') => string,
): Queries {
  return {
    list: (query) => list(statements, query),
    get: (table, id) => get(statements, table, id),
    bodies: (limit) => bodies(statements, limit),
    replaysOf: (ids) => replaysOf(statements, ids, among('?1', 'id')),
    turns: (session) => readMessages(statements, session, mostMessages, mostUnits),
    sessions: (limit, before) => sessions(statements, limit, before),
    openDeliveries: () => openDeliveries(statements),
    openRuns: () => openRuns(statements),
    route: () => readRoute(statements),
    spent: (now) => readDay(statements, now),
    costs: (options, limit, skip) => readCosts(statements, options, limit, skip),
    find: (text) => find(statements, text),
    jobs: (limit, state, before) => readJobs(statements, limit, state, before),
    job: (id) => readJob(statements, id),
    jobItems: (id, query) => readJobItems(statements, id, query),
    issues: (query, now) => readIssues(statements, query, now),
    issue: (key, now) => readIssue(statements, key, now),
  }
}
