/** Opens a store in PostgreSQL that no gateway uses, to be copied into another store, or an empty one, to be written as a copy. */

import {
  type Copied,
  type CopiedKind,
  type CopiedTurn,
  type CopySource,
  type CopyTarget,
  copiedKinds,
  type PlainKind,
  type PlainRow,
  plainTables,
} from '../copying.ts'
import { type Id, type RequestRecord, StoreError } from '../port.ts'
import { isBrief } from './bounds.ts'
import { createDatabase, type Link, shownLocation, type Transaction, unavailable } from './connection.ts'
import type { Query } from './parts.ts'
import {
  columnOfText,
  type DeliveryRow,
  deliveryColumns,
  deliveryOf,
  type EventRow,
  eventColumns,
  eventOf,
  type RequestRow,
  type RunRow,
  requestColumns,
  requestOf,
  rowOfDelivery,
  rowOfEvent,
  rowOfRequest,
  rowOfRun,
  runColumns,
  runOf,
  textOfColumn,
} from './rows.ts'
import { migrate } from './schema.ts'

/** How many rows are read at one time. A request may have a large body. */
const mostRows = 50

/** A node without a sign of life for this long is gone. Seconds. */
const expireSeconds = 15

/** @throws StoreError `STORE_UNAVAILABLE`; `LOCKED` when a gateway uses it */
export function openPostgresSource(location: string): Promise<CopySource> {
  return open(location, async (link) => {
    const [store] = await link.query<{ there: boolean }>(
      `SELECT to_regclass('reveille.requests') IS NOT NULL AS there`,
    )
    if (!store?.there) throw unavailable(`there is no store in ${shownLocation(location)}`)
  })
}

/** Makes the tables, if they are missing. @throws StoreError `STORE_UNAVAILABLE`, also when it is not empty; `LOCKED` when a gateway uses it */
export function openPostgresTarget(location: string): Promise<CopyTarget> {
  return open(location, migrate, async (tx) => {
    for (const kind of copiedKinds) {
      if ((await tx.query(`SELECT 1 FROM ${tableOf(kind)} LIMIT 1`)).length > 0)
        throw unavailable(`the store in ${shownLocation(location)} is not empty: it has ${kind}`)
    }
  })
}

/** All of a copy is one transaction, during which no gateway can start on the store. */
async function open(
  location: string,
  prepare: (link: Link) => Promise<void>,
  examine: (tx: Transaction) => Promise<void> = async () => undefined,
): Promise<CopyTarget> {
  const database = await createDatabase({ location })
  const link = database.link('copy', { statementMs: 0 })
  const opened = Promise.withResolvers<Transaction>()
  const ended = Promise.withResolvers<void>()
  // Where it fails before, nothing waits for its end.
  ended.promise.catch(() => undefined)
  const committed = refuseCopied(link, location)
    .then(() => prepare(link))
    .then(() =>
      link.transact(async (tx) => {
        await refuseCopied(tx, location)
        await refuseInUse(tx, location)
        await examine(tx)
        opened.resolve(tx)
        await ended.promise
      }),
    )
  committed.catch(opened.reject)
  const close = async () => {
    ended.reject(new Error('the copy was given up'))
    await committed.catch(() => undefined)
    await database.close()
  }
  try {
    const tx = await opened.promise
    return {
      name: shownLocation(location),
      ...createEnd(tx.query),
      write: (kind, items) => write(tx, kind, items),
      async commit() {
        await finish(tx)
        ended.resolve()
        await committed
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Any number that no other application uses for its advisory locks. */
const copyLock = 7_350_914_202

/**
 * Two addresses may name one database, and a copy of it onto itself would wait for its own locks. So a copy holds a lock at each of its ends.
 * @throws StoreError `LOCKED`
 */
async function refuseCopied({ query }: Pick<Transaction, 'query'>, location: string): Promise<void> {
  const [row] = await query<{ free: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS free', [copyLock])
  if (row?.free) return
  throw new StoreError(
    'LOCKED',
    `the store in ${shownLocation(location)} is being copied already: it is the one to copy from, by another address, or another copy is under way`,
  )
}

/** @throws StoreError `LOCKED` */
async function refuseInUse({ query, send }: Transaction, location: string): Promise<void> {
  // A gateway that starts meanwhile waits here, and finds the store as it is then.
  send('LOCK TABLE reveille.nodes IN SHARE ROW EXCLUSIVE MODE')
  const nodes = await query<{ name: string }>(
    `SELECT name FROM nodes WHERE renewed_at > now() - interval '${expireSeconds} s' LIMIT 1`,
  )
  const [node] = nodes
  if (node === undefined) return
  throw new StoreError(
    'LOCKED',
    `the gateway ${textOfColumn(node.name)} uses the store in ${shownLocation(location)}: stop it first`,
  )
}

/** How the rows of each kind are read, and what is made of each. */
const readings: {
  readonly [Kind in Exclude<CopiedKind, PlainKind>]: {
    readonly select: string
    readonly itemOf: (row: never) => Copied<Kind>
  }
} = {
  requests: {
    select: `SELECT ${requestColumns.map((name) => `r.${name}`).join(', ')}, k.body, k.head, k.trace
      FROM requests AS r LEFT JOIN kept AS k ON k.request = r.id ORDER BY r.id`,
    itemOf: ({ body, head, trace, ...row }: WholeRow): RequestRecord => ({
      ...requestOf(row),
      ...(body !== null && { body: new Uint8Array(body) }),
      ...(head !== null && { head: JSON.parse(head) }),
      ...(trace !== null && { trace: JSON.parse(trace) }),
    }),
  },
  runs: {
    select: `SELECT ${runColumns.join(', ')} FROM runs ORDER BY id`,
    itemOf: (row: RunRow) => runOf(row),
  },
  events: {
    select: `SELECT ${eventColumns.join(', ')} FROM events ORDER BY id`,
    itemOf: (row: EventRow) => eventOf(row),
  },
  deliveries: {
    select: `SELECT ${deliveryColumns.join(', ')} FROM deliveries ORDER BY id`,
    itemOf: (row: DeliveryRow) => deliveryOf(row),
  },
  turns: {
    // A summary stands before turns that are older than itself, so a turn is as old as the oldest of all that follow it.
    select: `SELECT t.session, t.turn, t.at, t.messages, aged.since FROM (
        SELECT session, seq, min(at) OVER (
          PARTITION BY session ORDER BY seq ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
        ) AS since FROM turns
      ) AS aged JOIN turns AS t USING (session, seq) ORDER BY aged.since, session, seq`,
    itemOf: ({ session, ...row }: CopiedTurn): CopiedTurn => ({ ...row, session: textOfColumn(session) }),
  },
}

interface WholeRow extends RequestRow {
  readonly body: Buffer | null
  readonly head: string | null
  readonly trace: string | null
}

function createEnd(query: Query) {
  return {
    async count(kind: CopiedKind): Promise<number> {
      const { key, summed } = isPlain(kind)
        ? (plainTables[kind] as SummedTable)
        : { key: [], summed: undefined }
      const what = summed === undefined ? '*' : `DISTINCT (${key.join(', ')})`
      const [row] = await query<{ count: number }>(`SELECT count(${what}) AS count FROM ${tableOf(kind)}`)
      return row?.count ?? 0
    },
    async *read<Kind extends CopiedKind>(kind: Kind): AsyncGenerator<readonly Copied<Kind>[]> {
      const { select, itemOf } = readingOf(kind)
      // A prepared FETCH belongs to the columns of one cursor.
      const cursor = `copied_${kind}`
      await query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${select}`)
      for (;;) {
        const rows = await query(`FETCH FORWARD ${mostRows} FROM ${cursor}`)
        if (rows.length > 0) yield rows.map((row) => itemOf(row as never) as Copied<Kind>)
        if (rows.length < mostRows) break
      }
      await query(`CLOSE ${cursor}`)
    },
  }
}

function readingOf(kind: CopiedKind): {
  readonly select: string
  readonly itemOf: (row: never) => unknown
} {
  return isPlain(kind) ? plainReading(kind) : readings[kind]
}

function recordWriter(
  kind: Exclude<CopiedKind, PlainKind>,
): (tx: Transaction, items: never) => Promise<unknown> {
  return writers[kind]
}

interface SummedTable {
  readonly key: readonly string[]
  readonly summed?: readonly string[]
}

function isPlain(kind: CopiedKind): kind is PlainKind {
  return kind in plainTables
}

function tableOf(kind: CopiedKind): string {
  return isPlain(kind) ? plainTables[kind].table : kind
}

/** A claim that is open while the store is not in use was interrupted. */
function plainReading(kind: PlainKind) {
  const { table, columns, key, summed }: (typeof plainTables)[PlainKind] & SummedTable = plainTables[kind]
  const names = Object.keys(columns).map((name) => {
    if (summed?.includes(name)) return `${name === 'reported' ? 'max' : 'sum'}(${name})::bigint AS ${name}`
    return kind === 'tasks' && name === 'interrupted'
      ? 'interrupted OR node IS NOT NULL AS interrupted'
      : name
  })
  const groups = summed === undefined ? '' : `GROUP BY ${key.join(', ')}`
  return {
    select: `SELECT ${names.join(', ')} FROM ${table} ${groups} ORDER BY ${key.join(', ')}`,
    itemOf: (row: PlainRow): PlainRow =>
      Object.fromEntries(
        Object.entries(columns).map(([name, type]) => {
          const value = row[name] ?? null
          return [name, type === 'text' && typeof value === 'string' ? textOfColumn(value) : value]
        }),
      ),
  }
}

const columnTypes: Readonly<Record<string, string>> = {
  text: 'text',
  json: 'text',
  id: 'uuid',
  number: 'bigint',
  flag: 'boolean',
}

async function write<Kind extends CopiedKind>(
  tx: Transaction,
  kind: Kind,
  items: readonly Copied<Kind>[],
): Promise<void> {
  if (isPlain(kind)) await writePlain(tx, kind, items as readonly PlainRow[])
  else await recordWriter(kind)(tx, items as never)
}

function writePlain(tx: Transaction, kind: PlainKind, items: readonly PlainRow[]): Promise<unknown> {
  const { table, columns }: (typeof plainTables)[PlainKind] & SummedTable = plainTables[kind]
  const types: Readonly<Record<string, string>> = columns
  const rows = items.map((item) =>
    Object.fromEntries(
      Object.entries(item).map(([name, value]) => [
        name,
        types[name] === 'text' && typeof value === 'string' ? columnOfText(value) : value,
      ]),
    ),
  )
  const isSliced = kind === 'spent' || kind === 'costs'
  return insert(
    tx,
    table,
    { ...mapValues(types, (type) => columnTypes[type] ?? 'text'), ...(isSliced && { slice: 'smallint' }) },
    isSliced ? rows.map((row) => ({ ...row, slice: 0 })) : rows,
  )
}

function mapValues<From, To>(
  values: Readonly<Record<string, From>>,
  make: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, make(value)]))
}

/** Inserts rows with one statement, in their order: numbers that PostgreSQL draws follow it. */
function insert(
  { query }: Transaction,
  table: string,
  types: Readonly<Record<string, string>>,
  rows: readonly object[],
): Promise<unknown> {
  const names = Object.keys(types)
  const lists = names.map((name, index) => `$${index + 1}::${types[name]}[]`)
  const columns = names.join(', ')
  return query(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM unnest(${lists.join(', ')}) WITH ORDINALITY
     AS copied (${columns}, nth) ORDER BY nth`,
    names.map((name) => rows.map((row) => (row as Readonly<Record<string, unknown>>)[name] ?? null)),
  )
}

const writers: {
  readonly [Kind in Exclude<CopiedKind, PlainKind>]: (
    tx: Transaction,
    items: readonly Copied<Kind>[],
  ) => Promise<unknown>
} = {
  async requests(tx, requests) {
    await insert(tx, 'requests', requestTypes, requests.map(rowOfRequest))
    const kept = requests.map(keptOf).filter(({ bytes }) => bytes > 0)
    await insert(tx, 'kept', keptTypes, kept)
  },
  runs: (tx, runs) => insert(tx, 'runs', runTypes, runs.map(rowOfRun)),
  events: (tx, events) => insert(tx, 'events', eventTypes, events.map(rowOfEvent)),
  deliveries: (tx, deliveries) => insert(tx, 'deliveries', deliveryTypes, deliveries.map(rowOfDelivery)),
  turns(tx, turns) {
    const rows = turns.map((turn) => ({ ...turn, session: columnOfText(turn.session) }))
    return insert(tx, 'turns', { session: 'text', turn: 'uuid', at: 'bigint', messages: 'text' }, rows)
  },
}

const requestTypes: Readonly<Record<(typeof requestColumns)[number], string>> = {
  id: 'uuid',
  outcome: 'text',
  endpoint: 'text',
  status: 'int',
  received_at: 'bigint',
  code: 'text',
  mapping: 'text',
  client: 'text',
  delivery_id: 'text',
  replay_of: 'uuid',
  generation: 'bigint',
  generation_digest: 'text',
  node: 'text',
  more: 'text',
}
const keptTypes = {
  request: 'uuid',
  bytes: 'bigint',
  body: 'bytea',
  head: 'text',
  trace: 'text',
  brief: 'boolean',
}
const runTypes: Readonly<Record<keyof RunRow, string>> = {
  id: 'uuid',
  kind: 'text',
  state: 'text',
  stage: 'text',
  session: 'text',
  created_at: 'bigint',
  asked: 'text',
  changes: 'text',
}
const eventTypes: Readonly<Record<keyof EventRow, string>> = {
  id: 'uuid',
  session: 'text',
  pending: 'boolean',
  urgent: 'boolean',
  draft: 'text',
  created_at: 'bigint',
  consumed_at: 'bigint',
  consumed_by: 'uuid',
  forgotten_at: 'bigint',
}
const deliveryTypes: Readonly<Record<keyof DeliveryRow, string>> = {
  id: 'uuid',
  state: 'text',
  channel: 'text',
  text: 'text',
  record: 'text',
}

function keptOf({ id, outcome, body, head, trace }: RequestRecord) {
  const texts = [head, trace].map((value) => (value === undefined ? null : JSON.stringify(value)))
  const bytes = texts.reduce((sum, text) => sum + (text === null ? 0 : Buffer.byteLength(text)), 0)
  const [headText, traceText] = texts
  return {
    request: id satisfies Id,
    bytes: bytes + (body?.byteLength ?? 0),
    body: body === undefined ? null : Buffer.from(body),
    head: headText,
    trace: traceText,
    brief: isBrief(outcome),
  }
}

/** Makes what follows from the tasks: the lanes, and the alarms of their heads and of tasks without a lane. */
async function finish({ send, query }: Transaction): Promise<void> {
  send('INSERT INTO lanes (lane) SELECT DISTINCT lane FROM tasks WHERE lane IS NOT NULL')
  send(
    `INSERT INTO alarms (kind, pool, due_at, seq, key)
     SELECT kind, coalesce(pool, ''), due_at, seq, key FROM tasks WHERE lane IS NULL
     UNION ALL
     SELECT kind, coalesce(pool, ''), due_at, seq, key FROM (
       SELECT DISTINCT ON (lane) * FROM tasks WHERE lane IS NOT NULL ORDER BY lane, seq
     ) AS heads`,
  )
  await query('INSERT INTO kept_sizes (bytes) SELECT coalesce(sum(bytes), 0)::bigint FROM kept')
}
