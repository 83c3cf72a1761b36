/**
 * Answers the queries of the reader, on connections of their own. Each answer is bounded in the database, by rows and by bytes,
 * before any of it is sent.
 */

import type { OpenDeliveries, OpenRuns, RunRecord, SessionMessage, SessionSummary } from '../port.ts'
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
} from '../reading.ts'
import { createFinder } from './find.ts'
import { readIssue, readIssues } from './issues.ts'
import { readJob, readJobItems, readJobs } from './jobs.ts'
import { coalescedOf, joinedMessages } from './joined.ts'
import type { Query } from './parts.ts'
import {
  columnOfText,
  deliveryColumns,
  deliveryOf,
  eventColumns,
  eventOf,
  firstIdOf,
  type RequestRow,
  requestColumns,
  requestOf,
  runColumns,
  runOf,
  textOfColumn,
} from './rows.ts'
import { readCosts, readSpentToday } from './spending.ts'

/** The most rows that are searched at one time. */
const mostAtOnce = 1_000_000

/** How what no index leads to is searched for. */
interface SearchOptions {
  /** How many rows are searched first. Each further window has four times as many. */
  readonly mostInWindow?: number
  /** For how long one answer searches before it says from where to go on. Milliseconds. */
  readonly mostSearchMs?: number
}

/** How the rows of a table are selected, and how each becomes a record. */
interface Form {
  readonly columns: readonly string[]
  /** What lists have besides: SQL for a column that is computed, and its name. */
  readonly computed?: { readonly sql: string; readonly name: string }
  /** The column of each filter. */
  readonly filters: Readonly<Record<string, string>>
  /** SQL for the bytes that a record takes. PostgreSQL reads no long text for it. */
  readonly bytes: string
  readonly recordOf: (row: never) => unknown
}

const forms: Readonly<Record<Listed, Form>> = {
  requests: {
    columns: requestColumns,
    computed: {
      sql: 'EXISTS (SELECT 1 FROM kept WHERE kept.request = requests.id AND kept.body IS NOT NULL)',
      name: 'body_kept',
    },
    filters: {
      outcome: 'outcome',
      endpoint: 'endpoint',
      code: 'code',
      mapping: 'mapping',
      client: 'client',
      delivery: 'delivery_id',
      replay_of: 'replay_of',
      generation: 'generation',
      digest: 'generation_digest',
      node: 'node',
    },
    bytes: 'octet_length(more)',
    recordOf: requestOf,
  },
  runs: {
    columns: runColumns,
    filters: { state: 'state', session: 'session', kind: 'kind', endpoint: "asked::json ->> 'endpoint'" },
    bytes: 'octet_length(asked) + coalesce(octet_length(changes), 0)',
    recordOf: runOf,
  },
  events: {
    columns: eventColumns,
    filters: { state: 'pending' },
    bytes: 'octet_length(draft)',
    recordOf: eventOf,
  },
  deliveries: {
    columns: deliveryColumns,
    filters: { state: 'state', channel: 'channel' },
    bytes: 'octet_length(text) + octet_length(record)',
    recordOf: deliveryOf,
  },
}

/** The values that a partial index leaves out. A query for another value excludes them, so that PostgreSQL uses the index. */
const unindexed: Readonly<Record<string, readonly string[]>> = {
  'requests.outcome': ['accepted'],
  'runs.state': ['queued', 'succeeded'],
  'deliveries.state': ['delivered'],
}

/** Values are numbered as they come, so that conditions can be put together. */
function createValues() {
  const values: unknown[] = []
  return {
    values,
    /** Returns the name of the value in the statement. */
    add: (value: unknown, type = '') => `$${values.push(value)}${type && `::${type}`}`,
  }
}

export function createQueries(
  query: Query,
  { mostInWindow = 20_000, mostSearchMs = 1_000 }: SearchOptions = {},
): Queries {
  async function list(asked: ListQuery): Promise<GotPage> {
    const { table } = asked
    const isIndexed = hasIndex(table, asked.filters)
    const first = asked.since === undefined ? undefined : firstIdOf(asked.since)
    const last = asked.until === undefined ? undefined : firstIdOf(asked.until + mostAheadMs)
    let before = smaller(asked.before, last)
    if (isIndexed) return select(asked, { first, before, limit: asked.limit, most: mostUnits })
    const startedAt = performance.now()
    const records: unknown[] = []
    let left = mostUnits
    for (let window = mostInWindow; ; window = Math.min(4 * window, mostAtOnce)) {
      const through = await endOfWindow(table, before, window)
      const from = greater(first, through)
      const limit = asked.limit - records.length
      const page = await select(asked, { first: from, before, limit, most: Math.max(0, left) })
      records.push(...page.records)
      left -= page.bytes
      if (page.isCut) return { records, isCut: true }
      if (records.length === asked.limit || through === undefined || from !== through)
        return { records, isCut: false }
      if (performance.now() - startedAt > mostSearchMs) return { records, isCut: true, through }
      before = through
    }
  }

  /** Returns the oldest id of the window that begins before an id, or `undefined` if the table ends in it. */
  async function endOfWindow(
    table: Listed,
    before: string | undefined,
    rows: number,
  ): Promise<string | undefined> {
    const condition = before === undefined ? '' : 'WHERE id < $2'
    const sql = `SELECT id FROM ${table} ${condition} ORDER BY id DESC OFFSET $1 LIMIT 1`
    const [row] = await query<{ id: string }>(sql, before === undefined ? [rows - 1] : [rows - 1, before])
    return row?.id
  }

  /** Selects records from an id on and before another, newest first. */
  async function select(
    { table, filters, since, until }: ListQuery,
    { first, before, limit, most }: Bounds,
  ): Promise<GotPage & { readonly bytes: number }> {
    const { columns, computed, bytes, recordOf } = forms[table]
    const { values, add } = createValues()
    const conditions: string[] = []
    if (first !== undefined) conditions.push(`id >= ${add(first)}`)
    if (before !== undefined) conditions.push(`id < ${add(before)}`)
    if (since !== undefined) conditions.push(`received_at >= ${add(since)}`)
    if (until !== undefined) conditions.push(`received_at < ${add(until)}`)
    conditions.push(...conditionsOf(table, filters, add))
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    const selected = computed ? [...columns, `${computed.sql} AS ${computed.name}`] : columns
    const page = `SELECT ${selected.join(', ')}, ${bytes} AS bytes FROM ${table} ${where}
      ORDER BY id DESC LIMIT ${add(limit)}`
    const rows = await query<{ found: number; upto: number }>(
      bounded(page, computed ? [...columns, computed.name] : columns, { most: add(most), order: 'id DESC' }),
      values,
    )
    const { found = 0, upto = 0 } = rows.at(-1) ?? {}
    return { records: rows.map((row) => recordOf(row as never)), isCut: rows.length < found, bytes: upto }
  }

  async function get(table: Listed, id: string): Promise<GotRecord | undefined> {
    const { columns, recordOf } = forms[table]
    if (table === 'requests') {
      const [row] = await query<WholeRow>(`${wholeRequests} WHERE r.id = $1`, [id])
      return row && gotOf(row)
    }
    const [row] = await query(`SELECT ${columns.join(', ')} FROM ${table} WHERE id = $1`, [id])
    if (row === undefined) return undefined
    const record = recordOf(row as never) as RunRecord
    if (table !== 'runs' || record.coalesce === undefined) return { record }
    const coalesced = await coalescedOf(query, id, record.requestId)
    return {
      record,
      ...(coalesced && { coalesced }),
      ...(record.state === 'cancelled' && { joined: await joinedMessages(query, id) }),
    }
  }

  async function bodies(limit: number): Promise<GotRecord[]> {
    const page = `SELECT request, bytes FROM kept WHERE body IS NOT NULL ORDER BY request DESC LIMIT $1`
    const rows = await query<WholeRow>(
      `${wholeRequests} JOIN (${bounded(page, ['request'], { most: mostBytes, order: 'request DESC' })}) AS page ON page.request = r.id ORDER BY r.id DESC`,
      [limit],
    )
    return rows.map(({ trace: _trace, ...row }) => gotOf({ ...row, trace: null }))
  }

  async function replaysOf(ids: readonly string[]): Promise<string[]> {
    const rows = await query<{ id: string }>('SELECT id FROM requests WHERE replay_of = ANY($1::uuid[])', [
      ids,
    ])
    return rows.map(({ id }) => id)
  }

  async function turns(session: string): Promise<SessionMessage[]> {
    const rows = await readTurns(query, session, mostMessages, mostUnits)
    return rows.flatMap(({ messages }): SessionMessage[] => JSON.parse(messages)).slice(-mostMessages)
  }

  async function sessions(limit: number, before?: SessionPlace): Promise<SessionSummary[]> {
    const { values, add } = createValues()
    const older =
      before === undefined
        ? ''
        : `AND (last_at, session) < (${add(before.lastAt, 'bigint')}, ${add(columnOfText(before.key), 'text')})`
    const most = add(limit)
    // The index has the sessions with a generated key apart from the others.
    const newest = (generated: string) =>
      `(SELECT session, turns, last_at FROM sessions WHERE ${generated} ${older}
        ORDER BY last_at DESC, session DESC LIMIT ${most})`
    const rows = await query<{ session: string; turns: number; last_at: number }>(
      `SELECT * FROM (${newest('made_up')} UNION ALL ${newest('NOT made_up')}) AS newest
       ORDER BY last_at DESC, session DESC LIMIT ${most}`,
      values,
    )
    return rows.map(({ session, turns, last_at: lastAt }) => ({ key: textOfColumn(session), turns, lastAt }))
  }

  async function openDeliveries(): Promise<OpenDeliveries[]> {
    const rows = await query<{ channel: string; pending: number; parked: number }>(
      `SELECT channel, count(*) FILTER (WHERE state = 'pending') AS pending, count(*) FILTER (WHERE state = 'parked') AS parked
       FROM deliveries WHERE state IN ('pending', 'parked') AND state <> 'delivered' GROUP BY channel ORDER BY channel`,
    )
    return rows.map((row) => ({ ...row, channel: textOfColumn(row.channel) }))
  }

  /** Runs that wait are counted by their tasks, as no index leads to them alone. */
  async function openRuns(): Promise<OpenRuns> {
    const inState = (state: string) =>
      `(SELECT count(*) FROM runs WHERE state = '${state}' AND state <> 'queued' AND state <> 'succeeded')`
    const [row] = await query<{ running: number; parked: number; unsettled: number }>(
      `SELECT ${inState('running')} AS running, ${inState('parked')} AS parked,
       (SELECT count(*) FROM tasks WHERE kind = 'run') AS unsettled`,
    )
    const { running = 0, parked = 0, unsettled = 0 } = row ?? {}
    return { queued: Math.max(0, unsettled - running), running, parked }
  }

  return {
    list,
    get,
    bodies,
    replaysOf,
    turns,
    sessions,
    openDeliveries,
    openRuns,
    route: () => readRoute(query),
    spent: (now) => readSpentToday(query, now),
    costs: (options, limit, skip) => readCosts(query, options, limit, skip),
    find: createFinder(query, list),
    jobs: (limit, state, before) => readJobs(query, limit, state, before),
    job: (id) => readJob(query, id),
    jobItems: (id, asked) => readJobItems(query, id, asked),
    issues: (asked, now) => readIssues(query, asked, now),
    issue: (key, now) => readIssue(query, key, now),
  }
}

function conditionsOf(
  table: Listed,
  filters: Filters,
  add: (value: unknown, type?: string) => string,
): string[] {
  const conditions: string[] = []
  for (const [name, column] of Object.entries(forms[table].filters)) {
    const value = filters[name]
    if (value === undefined) continue
    if (table === 'events') {
      conditions.push(value === 'pending' ? 'pending' : 'NOT pending')
      continue
    }
    conditions.push(`${column} = ${add(columnValue(name, value))}`)
    const left = unindexed[`${table}.${column}`] ?? []
    if (!left.includes(value)) conditions.push(...left.map((state) => `${column} <> '${state}'`))
  }
  return conditions
}

function columnValue(filter: string, value: string): unknown {
  if (filter === 'replay_of') return value
  return filter === 'generation' ? Number(value) : columnOfText(value)
}

/** Returns whether an index leads to the rows that have what is wanted, or no row is left out. */
function hasIndex(table: Listed, filters: Filters): boolean {
  const names = Object.keys(filters).filter((name) => filters[name] !== undefined)
  const isRare = (name: string) => {
    const left = unindexed[`${table}.${name}`]
    return left !== undefined && filters[name] !== undefined && !left.includes(filters[name])
  }
  if (table === 'events' && filters['state'] === 'pending') return true
  return (
    names.length === 0 ||
    isRare('outcome') ||
    isRare('state') ||
    names.includes('replay_of') ||
    names.includes('delivery')
  )
}

/** Which part of a table a page is of: the ids from `first` on and before `before`, and how many rows and bytes. */
interface Bounds {
  readonly first: string | undefined
  readonly before: string | undefined
  readonly limit: number
  readonly most: number
}

/**
 * Bounds a page in the database: of its rows, which have their `bytes`, those from the first on that fit, and the first one always.
 * `found` counts all of them, and `upto` adds up the bytes. A plain LIMIT would send hundreds of megabytes where records are large.
 */
export function bounded(
  page: string,
  columns: readonly string[],
  { most, order }: { readonly most: number | string; readonly order: string },
): string {
  return `SELECT ${columns.join(', ')}, found, upto FROM (
      SELECT *, sum(bytes) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)::bigint AS upto,
      row_number() OVER (ORDER BY ${order}) AS number, count(*) OVER () AS found FROM (${page}) AS page
    ) AS sized WHERE upto <= ${most} OR number = 1 ORDER BY number`
}

const wholeRequests = `SELECT ${requestColumns.map((column) => `r.${column}`).join(', ')}, kept.body, kept.head, kept.trace
  FROM requests AS r LEFT JOIN kept ON kept.request = r.id`

interface WholeRow extends RequestRow {
  readonly body: Buffer | null
  readonly head: string | null
  readonly trace: string | null
}

function gotOf({ body, head, trace, ...row }: WholeRow): GotRecord {
  return {
    record: requestOf(row),
    // A copy: a Buffer is a view of all that came from the connection.
    ...(body !== null && { body: new Uint8Array(body) }),
    ...(head !== null && { head }),
    ...(trace !== null && { trace }),
  }
}

/**
 * Returns a session's newest turns with their messages as JSON, the oldest turn first, as far as they fit `most` bytes. They hold
 * at least `limit` messages, if there are as many.
 */
export async function readTurns(
  query: Query,
  session: string,
  limit: number,
  most: number,
): Promise<{ readonly turn: string; readonly messages: string }[]> {
  const page = `SELECT seq, turn, messages, octet_length(messages) AS bytes FROM turns WHERE session = $1
    ORDER BY seq DESC LIMIT $2`
  const rows = await query<{ turn: string; messages: string }>(
    bounded(page, ['turn', 'messages'], { most, order: 'seq DESC' }),
    [columnOfText(session), limit],
  )
  return rows.toReversed()
}

export async function readRoute(query: Query) {
  const [row] = await query<{ channel: string; target: string | null; set_by: string | null }>(
    'SELECT channel, target, set_by FROM route',
  )
  if (row === undefined) return undefined
  const { channel, target, set_by: by } = row
  return {
    channel: textOfColumn(channel),
    ...(target !== null && { to: textOfColumn(target) }),
    ...(by && { by: textOfColumn(by) }),
  }
}

function smaller(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a
}

function greater(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a
}
