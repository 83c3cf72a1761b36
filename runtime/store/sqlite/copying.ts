/** Opens an embedded store that is not in use, to be copied into another store, or an empty one, to be written as a copy. */

import { existsSync, mkdirSync, statSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
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
  type StoredValues,
} from '../copying.ts'
import type { DeliveryRecord, EventRecord, RequestRecord, RunRecord } from '../port.ts'
import { StoreError } from '../port.ts'
import { textOfTrace } from '../requests.ts'
import { createFiles, databaseFile, lockFolder } from './database/folder.ts'
import { blobOfId, createFreePlaces, idOfBlob, placeOfTime, timeOfPlace } from './database/ids.ts'
import { migrate, migrations, schemaOf } from './database/migrations.ts'
import type { Flat } from './database/rows.ts'
import { bytesInRow } from './records/counters.ts'
import { type EventRow, eventColumns, eventOf, flattenEvent } from './records/events.ts'
import { flattenRequest, type RequestRow, requestColumns, requestOf } from './records/requests.ts'
import { flattenRun, type RunRow, runColumns, runOf } from './records/runs.ts'

/** How many rows are read at one time. A request may have a large body. */
const mostRows = 50

/** @throws StoreError `STORE_UNAVAILABLE` when there is no store of this version; `LOCKED` when a gateway uses it */
export function openSqliteSource(folder: string, values: StoredValues = nothingStored): CopySource {
  const file = databaseFile(folder)
  if (!existsSync(file)) throw unavailable(`there is no store in ${folder}`)
  createFiles(folder)
  const lock = lockFolder(folder)
  const db = new DatabaseSync(file)
  const close = async () => {
    db.close()
    lock.close()
  }
  const schema = schemaOf(db)
  if (schema === migrations.length) return { name: folder, ...createEnd(db, values), close }
  void close()
  throw unavailable(
    `the store in ${folder} has schema ${schema}, this version copies schema ${migrations.length}: start the gateway on it once, and stop it`,
  )
}

/** @throws StoreError `STORE_UNAVAILABLE` when the folder has a store that is not empty; `LOCKED` when a gateway uses it */
export async function openSqliteTarget(
  folder: string,
  values: StoredValues = nothingStored,
): Promise<CopyTarget> {
  const file = databaseFile(folder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const size = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size(file) === 0 && size(`${file}-wal`) > 0)
    throw unavailable(`${file}-wal in ${folder} tells of an earlier store whose database is missing`)
  createFiles(folder)
  const lock = lockFolder(folder)
  const db = new DatabaseSync(file)
  const close = async () => {
    if (db.isTransaction) db.exec('ROLLBACK')
    db.close()
    lock.close()
  }
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    migrate(db)
    const end = createEnd(db, values)
    for (const kind of copiedKinds)
      if ((await end.count(kind)) > 0)
        throw unavailable(`the store in ${folder} is not empty: it has ${kind}`)
    db.exec('BEGIN IMMEDIATE')
    return { name: folder, ...end, ...createWriter(db, values), close }
  } catch (error) {
    await close()
    throw error
  }
}

const nothingStored: StoredValues = { read: async () => [], write: async () => undefined }

function unavailable(message: string): StoreError {
  return new StoreError('STORE_UNAVAILABLE', message)
}

type Row = Readonly<Record<string, SQLInputValue>>

/** How the rows of each kind are read, and what is made of each. */
const readings: {
  readonly [Kind in Exclude<CopiedKind, PlainKind>]: {
    readonly select: string
    readonly itemOf: (row: never) => Copied<Kind>
  }
} = {
  requests: {
    select: `SELECT id, ${requestColumns.join(', ')}, traces.trace FROM requests LEFT JOIN traces USING (place) ORDER BY place`,
    itemOf: (row: RequestRow): RequestRecord => requestOf(row),
  },
  runs: {
    select: `SELECT id, ${runColumns.join(', ')} FROM runs ORDER BY place`,
    itemOf: (row: RunRow): RunRecord => runOf(row),
  },
  events: {
    select: `SELECT id, ${eventColumns.join(', ')}, forgotten_at FROM events ORDER BY place`,
    itemOf: (row: EventRow): EventRecord => eventOf(row),
  },
  deliveries: {
    select: 'SELECT record FROM deliveries ORDER BY id',
    itemOf: ({ record }: { record: string }): DeliveryRecord => JSON.parse(record),
  },
  turns: {
    select: 'SELECT place, session, turn, at, messages FROM turns ORDER BY place',
    itemOf: ({ place, turn, ...row }: TurnRow): CopiedTurn => ({
      ...row,
      turn: idOfBlob(turn),
      since: timeOfPlace(place),
    }),
  },
}

type TurnRow = Omit<CopiedTurn, 'turn' | 'since'> & { readonly place: number; readonly turn: Uint8Array }

function createEnd(db: DatabaseSync, values: StoredValues) {
  const countNow = (kind: CopiedKind) =>
    (db.prepare(`SELECT count(*) AS count FROM ${tableOf(kind)}`).get() as { count: number }).count

  function readingOf(kind: CopiedKind): {
    readonly select: string
    readonly itemOf: (row: never) => unknown
  } {
    return isPlain(kind) ? plainReading(kind) : readings[kind]
  }

  return {
    count: async (kind: CopiedKind) =>
      kind === 'sourceValues' ? (await values.read()).length : countNow(kind),
    async *read<Kind extends CopiedKind>(kind: Kind): AsyncGenerator<readonly Copied<Kind>[]> {
      if (kind === 'sourceValues') {
        yield (await values.read()) as readonly Copied<Kind>[]
        return
      }
      const { select, itemOf } = readingOf(kind)
      let items: Copied<Kind>[] = []
      for (const row of db.prepare(select).iterate()) {
        items.push(itemOf(row as never) as Copied<Kind>)
        if (items.length < mostRows) continue
        yield items
        items = []
      }
      if (items.length > 0) yield items
    },
  }
}

function isPlain(kind: CopiedKind): kind is PlainKind {
  return kind in plainTables
}

function tableOf(kind: CopiedKind): string {
  return isPlain(kind) ? plainTables[kind].table : kind
}

/** A claim that is open while the store is not in use was interrupted. */
function plainReading(kind: PlainKind) {
  const { table, columns, key } = plainTables[kind]
  const names = Object.keys(columns).map((name) =>
    kind === 'tasks' && name === 'interrupted'
      ? 'max(interrupted, claimed) AS interrupted'
      : `${columnOf(name)} AS ${name}`,
  )
  return {
    select: `SELECT ${names.join(', ')} FROM ${table} ORDER BY ${key.join(', ')}`,
    itemOf: (row: Row): PlainRow =>
      Object.fromEntries(Object.entries(columns).map(([name, type]) => [name, plainValue(row[name], type)])),
  }
}

/** Two columns have kept the words of the version that made them. */
function columnOf(name: string): string {
  if (name === 'reported') return 'told'
  return name === 'again_at' ? 'rearm_at' : name
}

function plainValue(value: SQLInputValue | undefined, type: string): PlainRow[string] {
  if (value === null || value === undefined) return null
  if (type === 'id') return idOfBlob(value as Uint8Array)
  if (type === 'flag') return value === 1
  return value as string | number
}

function columnValue(value: PlainRow[string] | undefined, type: string): SQLInputValue {
  if (value === null || value === undefined) return null
  if (type === 'id') return blobOfId(value as string)
  return typeof value === 'boolean' ? Number(value) : value
}

function createWriter(db: DatabaseSync, values: StoredValues) {
  const insert = (table: string, columns: readonly string[]) =>
    db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
  const insertRequest = insert('requests', ['place', 'id', ...requestColumns])
  const insertTrace = insert('traces', ['place', 'trace'])
  const insertRun = insert('runs', ['place', 'id', ...runColumns])
  const insertEvent = insert('events', ['place', 'id', ...eventColumns, 'forgotten_at'])
  const insertDelivery = insert('deliveries', ['id', 'state', 'channel', 'record'])
  const insertTurn = insert('turns', ['place', 'session', 'turn', 'at', 'messages'])
  const requestPlace = createFreePlaces(db, 'requests')
  const runPlace = createFreePlaces(db, 'runs')
  const eventPlace = createFreePlaces(db, 'events')
  const idColumns = {
    request: [requestColumns.indexOf('replay_of')],
    event: (['request', 'run', 'consumed_by'] as const).map((name) => eventColumns.indexOf(name)),
  }
  let lastTurn = Number.MIN_SAFE_INTEGER
  let lastTask = 0

  const writers: { readonly [Kind in Exclude<CopiedKind, PlainKind>]: (item: Copied<Kind>) => void } = {
    requests(request) {
      const id = blobOfId(request.id)
      const place = requestPlace(id)
      insertRequest.run(place, id, ...flat((values) => flattenRequest(values, request), idColumns.request))
      if (request.trace !== undefined) insertTrace.run(place, textOfTrace(request.trace))
    },
    runs(run) {
      const id = blobOfId(run.id)
      insertRun.run(runPlace(id), id, ...flat((values) => flattenRun(values, run)))
    },
    events(event) {
      const id = blobOfId(event.id)
      const values = flat((values) => flattenEvent(values, event), idColumns.event)
      insertEvent.run(eventPlace(id), id, ...values, event.forgottenAt ?? null)
    },
    deliveries(delivery) {
      const { id, state, channel } = delivery
      insertDelivery.run(blobOfId(id), state, channel, JSON.stringify(delivery))
    },
    turns({ session, turn, at, messages, since }) {
      lastTurn = Math.max(placeOfTime(since), lastTurn + 1)
      insertTurn.run(lastTurn, session, blobOfId(turn), at, messages)
    },
  }

  function plainWriter(kind: PlainKind): (item: PlainRow) => void {
    const { table, columns } = plainTables[kind]
    const names = Object.keys(columns)
    const types: readonly string[] = Object.values(columns)
    const more = kind === 'tasks' ? ['seq', 'claimed'] : []
    const statement = insert(table, [...names.map(columnOf), ...more])
    return (item) => {
      const values = names.map((name, index) => columnValue(item[name], types[index] ?? ''))
      if (kind === 'tasks') lastTask += 1
      statement.run(...values, ...(kind === 'tasks' ? [lastTask, 0] : []))
    }
  }

  function writerOf(kind: CopiedKind): (item: never) => void {
    return isPlain(kind) ? plainWriter(kind) : writers[kind]
  }

  return {
    async write<Kind extends CopiedKind>(kind: Kind, items: readonly Copied<Kind>[]): Promise<void> {
      if (kind === 'sourceValues') return values.write(items as readonly PlainRow[])
      const write = writerOf(kind) as (item: Copied<Kind>) => void
      for (const item of items) write(item)
    },
    async commit(): Promise<void> {
      db.exec(`
        INSERT INTO lanes (lane, seq, key) SELECT lane, seq, key FROM tasks WHERE lane IS NOT NULL;
        INSERT INTO alarms (kind, pool, due_at, seq, key)
          SELECT kind, coalesce(pool, ''), due_at, seq, key FROM tasks
          WHERE lane IS NULL OR seq = (SELECT min(lanes.seq) FROM lanes WHERE lanes.lane = tasks.lane);
        UPDATE pulse SET sequence = ${lastTask}, body_bytes =
          (SELECT coalesce(sum(${bytesInRow}), 0) FROM requests WHERE body IS NOT NULL) +
          (SELECT coalesce(sum(octet_length(trace)), 0) FROM traces);
        COMMIT`)
    },
  }
}

/** Makes the values of a row, in which ids are texts at some places. */
function flat(flatten: (values: Flat) => void, ids: readonly number[] = []): SQLInputValue[] {
  const values: Flat = []
  flatten(values)
  for (const at of ids) if (typeof values[at] === 'string') values[at] = blobOfId(values[at])
  return values as SQLInputValue[]
}
