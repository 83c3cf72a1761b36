/**
 * Lists and records: one table says how each kind of record is listed, filtered and read. The statements are the same for every
 * database; the process that asks merges in what is only in memory.
 */

import type { Dialect, SqlValue, Statements, Table } from '@reveille/kit'
import { readRoute } from './commands.ts'
import { idOfTime, isId, isNamedBy, maxSearched } from './id.ts'
import {
  type FoundRecord,
  type Id,
  type OpenDeliveries,
  type OpenRuns,
  type Page,
  type PageOptions,
  type Reader,
  type RequestFilters,
  type RequestRecord,
  type RunRecord,
  StoreError,
} from './port.ts'
import { readCoalesced, readJoinedMessages } from './records/coalescing.ts'
import { issueOf, issuesAt } from './records/issues.ts'
import { itemOf, jobOf } from './records/jobs.ts'
import { lookupColumns, rangesWith } from './records/lookups.ts'
import {
  decodeString,
  deliveryOf,
  encodeString,
  eventOf,
  listedRequest,
  requestOf,
  runOf,
  wholeEvent,
  wholeRequest,
  wholeRun,
} from './records/rows.ts'
import { readMessages, sessionOf } from './records/sessions.ts'
import { readCosts, readDay } from './records/spending.ts'
import type { RefusedRequests } from './refused-requests.ts'
import { tables } from './schema.ts'

/** Statements of the database, and the time of the process that asks. */
export interface Reading extends Statements {
  readonly among: Dialect['among']
  readonly now: number
}

type Filters = Readonly<Record<string, string | number | undefined>>

/** A condition of SQL, with the values of its question marks. */
type Condition = readonly [sql: string, ...values: SqlValue[]]

type ValueType = 'id' | 'text' | 'integer'

/** The query that lists a kind of record. */
interface Kind<Item> {
  /** A table, or a selection that has the time as its first parameter. */
  readonly from: string
  readonly isTimed?: true
  readonly columns: string
  /** The sort order, which is the position of a page's last row too. */
  readonly order: Readonly<Record<string, ValueType>>
  /** Default: the newest first. */
  readonly isAscending?: boolean
  /** By which a list may be filtered: a column, or the conditions that a value makes. */
  readonly filters: Readonly<Record<string, string | ((value: never) => readonly Condition[])>>
  /** Values that a partial index leaves out. A query for another one excludes them, so that SQLite uses the index. */
  readonly unindexed?: Readonly<Record<string, readonly string[]>>
  /** Parts of an index, each in order, which the list merges. */
  readonly parts?: (filters: Filters) => readonly string[]
  readonly itemOf: (row: never) => Item
}

/** Milliseconds before its time of arrival at which a request may get its id. */
const maxBehindMs = 60_000
/** Milliseconds by which an id may be ahead of the time at which its request was received, because the clock was set back. */
const maxAheadMs = 3_600_000

const jobItems = {
  from: 'job_items',
  columns: '*',
  order: { number: 'integer' },
  isAscending: true,
  filters: { job: 'job', state: 'state' },
  itemOf,
} as const

const kinds = {
  requests: {
    from: 'requests',
    columns: listedRequest,
    order: { id: 'id' },
    filters: {
      outcome: 'outcome',
      endpoint: 'endpoint',
      code: 'code',
      mapping: 'mapping',
      client: 'client',
      deliveryId: 'delivery',
      replayOf: 'replay_of',
      generation: 'generation',
      generationDigest: 'digest',
      node: 'node',
      since: (since: number) => [
        ['id >= ?', idOfTime(since - maxBehindMs)],
        ['received_at >= ?', since],
      ],
      until: (until: number) => [
        ['id < ?', idOfTime(until + maxAheadMs)],
        ['received_at < ?', until],
      ],
    },
    unindexed: { outcome: ['accepted'] },
    itemOf: requestOf,
  },
  runs: {
    from: 'runs',
    columns: wholeRun,
    order: { id: 'id' },
    filters: { state: 'state', sessionKey: 'session', kind: 'kind', endpoint: 'endpoint' },
    unindexed: { state: ['queued', 'succeeded'] },
    itemOf: runOf,
  },
  events: {
    from: 'events',
    columns: wholeEvent,
    order: { id: 'id' },
    filters: { state: (state: string) => [[state === 'pending' ? 'pending = 1' : 'pending IS NULL']] },
    parts: ({ state }) => (state === 'pending' ? ['urgency = 0', 'urgency = 1'] : ['']),
    itemOf: eventOf,
  },
  deliveries: {
    from: 'deliveries',
    columns: 'id, record',
    order: { id: 'id' },
    filters: { state: 'state', channel: 'channel' },
    unindexed: { state: ['delivered'] },
    itemOf: deliveryOf,
  },
  sessions: {
    from: 'sessions',
    columns: '*',
    order: { last_at: 'integer', session: 'text' },
    filters: {},
    parts: () => ['is_generated = 0', 'is_generated = 1'],
    itemOf: sessionOf,
  },
  jobs: {
    from: 'jobs',
    columns: '*',
    order: { id: 'id' },
    filters: { state: 'state' },
    itemOf: jobOf,
  },
  jobItems,
  newestJobItems: { ...jobItems, isAscending: false },
  issues: {
    from: issuesAt('?1'),
    isTimed: true,
    columns: '*',
    order: { rank: 'integer', age: 'integer', key: 'text' },
    isAscending: true,
    filters: { state: 'shown' },
    itemOf: issueOf,
  },
} as const satisfies Readonly<Record<string, Kind<unknown>>>

/** Maximum length of the records in one response as JSON, in UTF-16 units: senders decide how long a record is. */
const maxUnits = 4_194_304
/** Maximum size of requests with their bodies in one response, in bytes. */
const maxBytes = 16_777_216
/** Maximum number of messages of a session's history in one response. */
const maxMessages = 1_000
/** Maximum number of records that `find` returns. */
const maxFound = 20
/** Number of rows read at one time. */
const rowsPerRead = 64

type Row = Readonly<Record<string, SqlValue>> & { readonly id: Id; readonly record?: string }

/** Returns the conditions of filters; undefined where no record can meet them. */
function conditionsOf(kind: Kind<unknown>, filters: Filters): readonly Condition[] | undefined {
  const conditions: Condition[] = []
  const columns = (tables as Readonly<Record<string, Table>>)[kind.from]?.columns
  for (const [name, filter] of Object.entries(kind.filters)) {
    const value = filters[name]
    if (value === undefined) continue
    if (typeof filter !== 'string') {
      conditions.push(...filter(value as never))
      continue
    }
    const type = columns?.[filter]?.type ?? 'text'
    if (type === 'id' && !isId(`${value}`)) return undefined
    conditions.push([`${filter} = ?`, type === 'text' ? encodeString(`${value}`) : value])
    const left = kind.unindexed?.[filter] ?? []
    // An original has few replays, and an outcome may have many requests.
    if (!left.includes(`${value}`) && filters['replayOf'] === undefined)
      conditions.push(...left.map((each): Condition => [`${filter} <> '${each}'`]))
  }
  return conditions
}

/** Reads the rows of a list, from the row after the position `after`. */
async function* rowsOf(
  reading: Reading,
  kind: Kind<unknown>,
  { after, limit, filters }: { after: readonly SqlValue[]; limit: number; filters: Filters },
  conditions: readonly Condition[],
): AsyncGenerator<Row> {
  const columns = Object.keys(kind.order)
  const [direction, comparison] = kind.isAscending ? ['', '>'] : [' DESC', '<']
  const [left, right] = [columns.join(', '), columns.map(() => '?').join(', ')]
  const position = columns.length === 1 ? `${left} ${comparison} ?` : `(${left}) ${comparison} (${right})`
  for (let last = after; ; ) {
    const values: SqlValue[] = kind.isTimed ? [reading.now] : []
    const all: Condition[] = last.length === 0 ? [...conditions] : [...conditions, [position, ...last]]
    const where = all.map(([sql, ...given]) => {
      const numbered = sql.replaceAll('?', () => `?${values.push(given.shift() as SqlValue)}`)
      return numbered
    })
    const count = Math.min(rowsPerRead, limit + 1)
    const selects = (kind.parts?.(filters) ?? ['']).map((part) => {
      const both = part === '' ? where : [part, ...where]
      return `SELECT ${kind.columns} FROM ${kind.from}${both.length === 0 ? '' : ` WHERE ${both.join(' AND ')}`}`
    })
    const order = columns.map((column) => column + direction).join(', ')
    const rows = await reading.all<Row>(
      `${selects.join(' UNION ALL ')} ORDER BY ${order} LIMIT ${count}`,
      values,
    )
    yield* rows
    const end = rows.at(-1)
    if (rows.length < count || end === undefined) return
    last = positionOf(kind, end)
  }
}

function positionOf({ order }: Kind<unknown>, row: Row): readonly SqlValue[] {
  return Object.keys(order).map((column) => row[column] as SqlValue)
}

/** Takes rows until there are `limit`, or they are too large together. The first one is taken whatever its size. */
async function take<Item>(
  kind: Kind<Item>,
  rows: AsyncIterable<Row>,
  limit: number,
  sizeOf = ({ record = '' }: Row) => record.length,
  maxSize = maxUnits,
): Promise<Page<Item>> {
  const items: Item[] = []
  let size = 0
  let last: Row | undefined
  for await (const row of rows) {
    size += sizeOf(row)
    if (last !== undefined && (items.length === limit || size > maxSize))
      return { items, next: cursorOf(positionOf(kind, last)) }
    items.push(kind.itemOf(row as never))
    last = row
  }
  return { items }
}

async function page<Item>(
  reading: Reading,
  kind: Kind<Item>,
  options: PageOptions = {},
  more: Filters = {},
): Promise<Page<Item>> {
  const { limit: wanted = 50, cursor, ...given } = options
  const filters: Filters = { ...given, ...more }
  const limit = bounded(wanted, 500)
  const after = cursor === undefined ? [] : positionIn(cursor, Object.values(kind.order))
  const conditions = conditionsOf(kind, filters)
  if (conditions === undefined) return { items: [] }
  const rows = kind.from === 'requests' ? requestRows : rowsOf
  return take(kind, rows(reading, kind, { after, limit, filters }, conditions), limit)
}

/** Reads requests by a fact without an index of its own in the ranges of ids where it occurs. */
async function* requestRows(
  reading: Reading,
  kind: Kind<unknown>,
  query: Parameters<typeof rowsOf>[2],
  conditions: readonly Condition[],
): AsyncGenerator<Row> {
  const { outcome, replayOf, since, ...facts } = query.filters as RequestFilters & Filters
  const isIndexed = replayOf !== undefined || (outcome !== undefined && outcome !== 'accepted')
  const columns = Object.entries(kinds.requests.filters).filter(([name]) => facts[name] !== undefined)
  const found = columns.find(([, column]) => lookupColumns.some((each) => each === column))
  const name = lookupColumns.find((each) => columns.some(([, column]) => column === each))
  if (isIndexed || found === undefined || name === undefined) {
    yield* rowsOf(reading, kind, query, conditions)
    return
  }
  const [filter] = columns.find(([, column]) => column === name) ?? found
  const oldest = since === undefined ? '' : idOfTime(since - maxBehindMs)
  const [before] = query.after as Id[]
  for await (const [from, until] of rangesWith(reading, name, encodeString(`${facts[filter]}`), before)) {
    if (until !== undefined && until < oldest) return
    const range: Condition[] = [
      ['id >= ?', from],
      ...(until === undefined ? [] : [['id < ?', until] as const]),
    ]
    yield* rowsOf(reading, kind, { ...query, after: [] }, [...conditions, ...range])
  }
}

async function get<Item>(
  { all, now }: Reading,
  { from, columns, isTimed, itemOf }: Kind<Item>,
  key: string,
  column = 'id',
): Promise<Item | undefined> {
  if (column === 'id' && !isId(key)) return undefined
  const values = [...(isTimed ? [now] : []), encodeString(key)]
  const [row] = await all(`SELECT ${columns} FROM ${from} WHERE ${column} = ?${values.length}`, values)
  return row === undefined ? undefined : itemOf(row as never)
}

/** A run's coalesced requests are written on its record when it starts. Until then they are counted here. */
async function run(reading: Reading, id: Id): Promise<RunRecord | undefined> {
  const record = await get(reading, kinds.runs, id)
  if (record?.coalesce === undefined) return record
  const { coalesce, requestId, state } = record
  return {
    ...record,
    ...(state === 'cancelled' && { joined: await readJoinedMessages(reading, id) }),
    ...(coalesce.count === undefined && {
      coalesce: { ...coalesce, ...(await readCoalesced(reading, id, requestId)) },
    }),
  }
}

async function recentBodies(
  reading: Reading,
  { limit: wanted = 100 } = {},
): Promise<readonly RequestRecord[]> {
  const kind = { ...kinds.requests, columns: `${wholeRequest}, kept` }
  const limit = bounded(wanted, 1000)
  const isKept: Condition[] = [['kept IS NOT NULL'], ['body IS NOT NULL']]
  const rows = rowsOf(reading, kind, { after: [], limit: Math.min(limit, 7), filters: {} }, isKept)
  const sizeOf = ({ kept, record = '' }: Row) => Number(kept) + record.length
  return (await take(kind, rows, limit, sizeOf, maxBytes)).items
}

async function openDeliveries({ all }: Reading): Promise<OpenDeliveries[]> {
  const rows = await all<{ state: 'pending' | 'parked'; channel: string; count: number }>(
    `SELECT state, channel, count(*) AS count FROM deliveries
     WHERE state IN ('pending', 'parked') AND state <> 'delivered' GROUP BY state, channel`,
  )
  const open = new Map<string, OpenDeliveries>()
  for (const { state, channel, count } of rows) {
    const counts = open.get(channel) ?? { channel: decodeString(channel), pending: 0, parked: 0 }
    open.set(channel, { ...counts, [state]: Number(count) })
  }
  return [...open.values()]
}

/** Runs that wait are counted by their tasks, as no index leads to them alone. */
async function openRuns({ all }: Reading): Promise<OpenRuns> {
  const count = async (sql: string) => Number((await all<{ count: number }>(sql))[0]?.count ?? 0)
  const inState = (state: string) =>
    count(
      `SELECT count(*) AS count FROM runs WHERE state = '${state}' AND state <> 'queued' AND state <> 'succeeded'`,
    )
  const running = await inState('running')
  const unsettled = await count("SELECT count(*) AS count FROM tasks WHERE kind = 'run'")
  return { queued: Math.max(0, unsettled - running), running, parked: await inState('parked') }
}

async function replaysOf({ all, among }: Reading, ids: readonly Id[]): Promise<readonly Id[]> {
  const rows = await all<{ id: Id }>(
    `SELECT id FROM requests WHERE replay_of IN ${among('?1', 'id')} AND replay_of IS NOT NULL`,
    [ids.filter(isId)],
  )
  return rows.map(({ id }) => id)
}

const searched = [
  ['request', 'requests'],
  ['run', 'runs'],
  ['event', 'events'],
  ['delivery', 'deliveries'],
] as const

type Search = (reading: Reading, text: string) => Promise<readonly FoundRecord[]>

const searches: readonly Search[] = [
  async function byWholeId({ all }, text) {
    const id = text.toLowerCase()
    const found: FoundRecord[] = []
    if (!isId(id)) return found
    for (const [kind, table] of searched)
      if ((await all(`SELECT 1 FROM ${table} WHERE id = ?1`, [id])).length > 0) found.push({ kind, id })
    return found
  },
  /** A session has a row once it has a turn. Before, its runs name it. */
  async function bySession({ all }, text) {
    for (const table of ['sessions', 'runs'])
      if ((await all(`SELECT 1 FROM ${table} WHERE session = ?1 LIMIT 1`, [encodeString(text)])).length > 0)
        return [{ kind: 'session', id: text }]
    return []
  },
  async function byDeliveryId(reading, deliveryId) {
    const { items } = await page(reading, kinds.requests, { limit: maxFound }, { deliveryId })
    return items.map(({ id }) => ({ kind: 'request', id }))
  },
  async function byGeneration(reading, text) {
    const filters = generationIn(text)
    const [newest] = filters ? (await page(reading, kinds.requests, { limit: 1 }, filters)).items : []
    return newest === undefined ? [] : [{ kind: 'generation', id: `${newest.generation}` }]
  },
  async function byEnd({ all }, text) {
    const isWanted = isNamedBy(text)
    const found: FoundRecord[] = []
    for (const [kind, table] of searched) {
      const rows = await all<{ id: Id }>(`SELECT id FROM ${table} ORDER BY id DESC LIMIT ${maxSearched}`)
      for (const { id } of rows) if (isWanted(id)) found.push({ kind, id })
    }
    return found
  },
]

/** Hexadecimal digits of its generation's digest that a request stores. */
const shownOfDigest = 16

/** Returns the filters for requests of the generation that a string names by number or digest. */
function generationIn(text: string): Filters | undefined {
  if (/^[1-9]\d{0,8}$/.test(text)) return { generation: Number(text) }
  return /^[0-9a-f]{16,64}$/.test(text) ? { generationDigest: text.slice(0, shownOfDigest) } : undefined
}

/** Finds the records that a pasted string names: an id or its end, a sender's id of a delivery, a session, a generation. */
async function find(reading: Reading, pasted: string): Promise<readonly FoundRecord[]> {
  const text = pasted.trim()
  const found = new Map<string, FoundRecord>()
  for (const search of text === '' ? [] : searches) {
    for (const each of await search(reading, text)) found.set(`${each.kind} ${each.id}`, each)
    // A whole id has an end of its own, which names nothing else.
    if (found.size >= maxFound || (isId(text.toLowerCase()) && found.size > 0)) break
  }
  return [...found.values()].slice(0, maxFound)
}

/** The database's part of each method of the port's reader. */
type Answers = {
  readonly [Name in keyof Reader]: (
    reading: Reading,
    ...args: Parameters<Reader[Name]>
  ) => ReturnType<Reader[Name]>
}

const listOf =
  <Item>(kind: Kind<Item>) =>
  (reading: Reading, options?: PageOptions) =>
    page(reading, kind, options)

const answers: Answers = {
  requests: listOf(kinds.requests),
  request: (reading, id) => get(reading, { ...kinds.requests, columns: wholeRequest }, id),
  replaysOf,
  recentBodies,
  runs: listOf(kinds.runs),
  run,
  events: listOf(kinds.events),
  event: (reading, id) => get(reading, kinds.events, id),
  deliveries: listOf(kinds.deliveries),
  delivery: (reading, id) => get(reading, kinds.deliveries, id),
  async session(reading, key) {
    const messages = await readMessages(reading, key, maxMessages, maxUnits)
    return messages.length === 0 ? undefined : { key, messages }
  },
  sessions: listOf(kinds.sessions),
  openDeliveries,
  route: (reading) => readRoute(reading),
  spent: (reading) => readDay(reading, reading.now),
  async costs(reading, { limit: wanted = 50, cursor = '0', ...options }) {
    const limit = bounded(wanted, 500)
    const [skip] = positionIn(cursor, ['integer']) as [number]
    const found = await readCosts(reading, options, limit + 1, skip)
    const items = found.slice(0, limit)
    return found.length > limit ? { items, next: `${skip + limit}` } : { items }
  },
  openRuns,
  find,
  jobs: listOf(kinds.jobs),
  job: (reading, id) => get(reading, kinds.jobs, id),
  jobItems: (reading, job, { newestFirst, ...options } = {}) =>
    page(reading, newestFirst ? kinds.newestJobItems : kinds.jobItems, options, { job }),
  issues: listOf(kinds.issues),
  issue: (reading, key) => get(reading, kinds.issues, key, 'key'),
  isSignedOut: async ({ all }, signIn) =>
    (await all('SELECT 1 FROM sign_outs WHERE sign_in = ?1', [encodeString(signIn)])).length > 0,
}

/** A question of a reader, in a form that can be sent to another thread. */
export interface StoreQuery {
  readonly name: keyof Reader
  /** The time of the process that asks. */
  readonly now: number
  readonly args: readonly unknown[]
}

/** @throws StoreError `BAD_CURSOR` */
export function answer(
  { all, run }: Statements,
  among: Dialect['among'],
  { name, now, args }: StoreQuery,
): Promise<unknown> {
  const answerOf = answers[name] as (reading: Reading, ...args: readonly unknown[]) => Promise<unknown>
  return answerOf({ all, run, among, now }, ...args)
}

/** Makes a store's reader. `noted` finds a request whose commit is under way. */
export function createReader(
  ask: (question: StoreQuery) => Promise<unknown>,
  refused: RefusedRequests,
  now: () => number,
  noted: (id: Id) => RequestRecord | undefined,
): Reader {
  const ofDatabase = Object.fromEntries(
    Object.keys(answers).map((name) => [
      name,
      (...args: readonly unknown[]) => ask({ name: name as keyof Reader, now: now(), args }),
    ]),
  ) as unknown as Reader
  return {
    ...ofDatabase,
    async requests({ limit: wanted, cursor, ...filters } = {}) {
      const found = await ofDatabase.requests({ limit: wanted, cursor, ...filters })
      const limit = bounded(wanted ?? 50, 500)
      // Records older than the page belong to the next one.
      const end = found.next ?? ''
      const remembered = refused.list(limit + 1, filters, cursor).filter(({ id }) => id > end)
      const all = found.items.concat(remembered).sort((a, b) => (a.id < b.id ? 1 : -1))
      const items = all.slice(0, limit)
      const last = items.at(-1)?.id
      return last !== undefined && (all.length > limit || found.next !== undefined)
        ? { items, next: last }
        : { items }
    },
    request: async (id) => refused.get(id) ?? noted(id) ?? ofDatabase.request(id),
    async find(text) {
      const remembered = refused.find(text.trim()).map((id): FoundRecord => ({ kind: 'request', id }))
      // A whole id names one record, so it is in one of the two.
      return remembered.concat(await ofDatabase.find(text)).slice(0, maxFound)
    },
  }
}

function bounded(limit: number, max: number): number {
  return Math.max(1, Math.min(max, Math.floor(limit)))
}

/** Encodes the position of the last row of a page. Several values are encoded for URLs, because a key is an arbitrary string. */
function cursorOf(position: readonly SqlValue[]): string {
  return position.length === 1
    ? `${position[0]}`
    : Buffer.from(JSON.stringify(position)).toString('base64url')
}

/** @throws StoreError `BAD_CURSOR` */
function positionIn(cursor: string, types: readonly ValueType[]): readonly SqlValue[] {
  const position = types.length === 1 ? [types[0] === 'integer' ? Number(cursor) : cursor] : decoded(cursor)
  const isPosition =
    position.length === types.length &&
    position.every((value, index) => {
      if (types[index] === 'integer') return Number.isSafeInteger(value)
      return typeof value === 'string' && (types[index] === 'text' || isId(value))
    })
  if (isPosition) return position as readonly SqlValue[]
  throw new StoreError('BAD_CURSOR', 'the cursor is none that a page answered as `next`')
}

/** A cursor that cannot be decoded has no values. */
function decoded(cursor: string): readonly unknown[] {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(values) ? values : []
  } catch {
    return []
  }
}
