/**
 * Writes a store as lines of JSON, and reads them into an empty one, which may be in another database. The first line says how many rows
 * of each table follow; then each row has a line, with the values in the order of the table's columns and bytes in base64.
 *
 * Left behind are nodes, leases and the claims of tasks, which may be claimed again. Counts are rebuilt.
 * Tasks lose their numbers and keep their order.
 */

import { randomUUID } from 'node:crypto'
import type { Driver, SqlValue, Statements, Table, Transaction } from '@reveille/kit'
import { outcomesWithoutEffect } from './counters.ts'
import { storeErrorOf } from './driver-error.ts'
import { StoreError } from './port.ts'
import { decodeString, encodeString } from './records/rows.ts'
import { migrate, schemaIn, schemaVersion, tables } from './schema.ts'

/** The values that sources keep outside of the embedded store, as JSON. */
export interface OutsideValues {
  read(): Promise<readonly OutsideValue[]>
  write(values: readonly OutsideValue[]): Promise<void>
}

export interface OutsideValue {
  readonly source: string
  readonly name: string
  readonly value: string
}

export interface TransferOptions {
  /** Where the sources of the embedded store keep their values. Absent: in the database. */
  readonly outside?: OutsideValues
  readonly onProgress?: (done: number, total: number) => void
}

/** Number of rows of each table. */
export type RowCounts = Readonly<Record<string, number>>

/** Maximum number of rows read at one time. A request may have a large body. */
const maxRows = 100
/** Maximum number of characters of lines inserted at one time. */
const maxCharacters = 1_000_000
/** A node that renewed its row within this time is alive. Milliseconds. */
const aliveMs = 15_000
const format = 'reveille-store'

const moved: readonly Table[] = Object.values(tables).filter(
  ({ name }) => !['nodes', 'leases', 'counts'].includes(name),
)

/** @throws StoreError */
export async function exportStore(
  driver: Driver,
  write: (line: string) => Promise<void> | void,
  { outside, onProgress = () => undefined }: TransferOptions = {},
): Promise<RowCounts> {
  try {
    const schema = await schemaIn(driver)
    if (schema === 0) throw unavailable('there is no store yet')
    if (schema !== schemaVersion) throw otherSchema(schema, 'Start the gateway on it once, and stop it')
    await refuseInUse(driver)
    const values = (await outside?.read())?.map(rowOfValue)
    const counts: Record<string, number> = {}
    for (const table of moved) counts[table.name] = await driver.read((on) => countOf(table, on))
    if (values !== undefined) counts[tables.source_values.name] = values.length
    const total = sumOf(counts)
    await write(`${JSON.stringify({ format, schema, counts })}\n`)
    let done = 0
    for (const table of moved) {
      const stored = table === tables.source_values ? values : undefined
      let count = 0
      for await (const rows of stored === undefined ? pagesOf(table, driver) : [stored]) {
        await write(rows.map((row) => lineOf(table, row)).join(''))
        count += rows.length
        done += rows.length
        onProgress(done, total)
      }
      if (count !== counts[table.name]) throw unavailable(`${table.name} changed meanwhile`)
    }
    return counts
  } catch (error) {
    throw storeErrorOf(error)
  }
}

/**
 * Imports all or nothing, in one transaction. `open` is called again if the transaction has to be run again. @throws StoreError
 */
export async function importStore(
  driver: Driver,
  open: () => AsyncIterable<string>,
  { outside, onProgress = () => undefined }: TransferOptions = {},
): Promise<RowCounts> {
  try {
    await migrate(driver)
    await refuseInUse(driver)
    if (outside !== undefined && (await outside.read()).length > 0) throw notEmpty('values of sources')
    const { counts, values } = await driver.transaction(async (tx) => {
      await tx.lock(['schema'])
      await refuseFilled(tx)
      const made = await insertLines(tx, open(), outside !== undefined, onProgress)
      await writeCounts(tx)
      return made
    })
    await outside?.write(values.map(valueOfRow))
    return counts
  } catch (error) {
    throw storeErrorOf(error)
  }
}

type Row = readonly SqlValue[]

/** Reads a table in the order of its key. */
async function* pagesOf(table: Table, driver: Driver): AsyncGenerator<readonly Row[]> {
  const { name, columns, primaryKey } = table
  const names = Object.keys(columns).join(', ')
  const key = primaryKey.join(', ')
  const after = primaryKey.map((_, index) => `?${index + 1}`).join(', ')
  const order = `ORDER BY ${key} LIMIT ${maxRows}`
  for (let last: readonly SqlValue[] = []; ; ) {
    const where = last.length === 0 ? '' : `WHERE (${key}) > (${after})`
    const rows = await driver.read(({ all }) =>
      all<Record<string, SqlValue>>(`SELECT ${names} FROM ${name} ${where} ${order}`, last),
    )
    const end = rows.at(-1)
    if (end === undefined) return
    last = primaryKey.map((column) => end[column] as SqlValue)
    yield rows.map((row) => insertedOf(table).map((column) => unclaimed(row)[column] as SqlValue))
  }
}

/** The columns that `insert` expects. */
function insertedOf({ columns }: Table): readonly string[] {
  return Object.keys(columns).filter((column) => columns[column]?.type !== 'sequence')
}

/** A claim stays behind: its task may be claimed again, as after the death of its process. */
function unclaimed(row: Readonly<Record<string, SqlValue>>): Readonly<Record<string, SqlValue>> {
  if (typeof row['leased_by'] !== 'string') return row
  return { ...row, leased_by: null, leased_until: null, state: 'ready', interrupted: 1 }
}

function lineOf({ name }: Table, row: Row): string {
  const values = row.map((value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  )
  return `${JSON.stringify({ table: name, row: values })}\n`
}

async function insertLines(
  tx: Transaction,
  lines: AsyncIterable<string>,
  isOutside: boolean,
  onProgress: (done: number, total: number) => void,
): Promise<{ readonly counts: RowCounts; readonly values: readonly Row[] }> {
  const found: Record<string, number> = Object.fromEntries(moved.map(({ name }) => [name, 0]))
  const values: Row[] = []
  let header: RowCounts | undefined
  let [number, done, characters] = [0, 0, 0]
  let batch: { readonly table: Table; readonly rows: Row[] } | undefined
  const flush = async () => {
    if (batch !== undefined) await tx.insert(batch.table, batch.rows)
    batch = undefined
    characters = 0
    onProgress(done, sumOf(header ?? {}))
  }
  for await (const line of lines) {
    number += 1
    const parsed = parse(line, number)
    if (header === undefined) {
      header = headerOf(parsed)
      continue
    }
    const { table, row } = rowIn(parsed, number)
    found[table.name] = (found[table.name] ?? 0) + 1
    done += 1
    if (isOutside && table === tables.source_values) {
      values.push(row)
      continue
    }
    if (batch?.table !== table || characters > maxCharacters) await flush()
    batch ??= { table, rows: [] }
    batch.rows.push(row)
    characters += line.length
  }
  await flush()
  if (header === undefined) throw bad('it is empty')
  for (const [name, count] of Object.entries(header))
    if (found[name] !== count)
      throw bad(
        `it has ${found[name] ?? 0} rows of ${name}, and should have ${count}: it is cut, or was changed`,
      )
  return { counts: found, values }
}

function parse(line: string, number: number): Readonly<Record<string, unknown>> {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    // The parser's message quotes the line.
  }
  if (typeof parsed === 'object' && parsed !== null) return parsed as Readonly<Record<string, unknown>>
  throw bad(`line ${number} is not a JSON object`)
}

function headerOf({ format: found, schema, counts }: Readonly<Record<string, unknown>>): RowCounts {
  if (found !== format || typeof counts !== 'object' || counts === null)
    throw bad('its first line is not that of an export')
  if (schema !== schemaVersion)
    throw otherSchema(
      schema,
      'Import it with the version of Reveille that exported it, and start this one then',
    )
  return counts as RowCounts
}

function rowIn(
  { table: name, row }: Readonly<Record<string, unknown>>,
  number: number,
): { readonly table: Table; readonly row: Row } {
  const table = moved.find((each) => each.name === name)
  const columns = table === undefined ? [] : insertedOf(table)
  if (table === undefined || !Array.isArray(row) || row.length !== columns.length)
    throw bad(`line ${number} is not a row of a table`)
  return {
    table,
    row: row.map((value, index) => {
      const column = columns[index] as string
      return valueIn(value, table.columns[column] as Table['columns'][string], `line ${number}: ${column}`)
    }),
  }
}

function valueIn(value: unknown, { type, isNullable }: Table['columns'][string], where: string): SqlValue {
  if (value === null && isNullable) return null
  const isNumber = type === 'integer' || type === 'number'
  if (isNumber ? typeof value !== 'number' : typeof value !== 'string')
    throw bad(`${where} is not of its type`)
  return type === 'bytes' ? new Uint8Array(Buffer.from(value as string, 'base64')) : (value as SqlValue)
}

async function countOf({ name }: Table, { all }: Pick<Statements, 'all'>): Promise<number> {
  const [row] = await all<{ count: number }>(`SELECT count(*) AS count FROM ${name}`)
  return Number(row?.count ?? 0)
}

/** A store that a process works on changes meanwhile. */
async function refuseInUse(driver: Driver): Promise<void> {
  if (!driver.isShared) return
  const since = Math.round((await driver.clock()) - aliveMs)
  const nodes = await driver.read(({ all }) =>
    all<{ name: string }>('SELECT name FROM nodes WHERE renewed_at >= ?1 ORDER BY name', [since]),
  )
  if (nodes.length === 0) return
  const names = nodes.map(({ name }) => decodeString(name)).join(', ')
  throw new StoreError('LOCKED', `nodes work on the database: ${names}`, {
    fix: 'Stop them first. One that was killed counts for 15 seconds.',
  })
}

async function refuseFilled(tx: Transaction): Promise<void> {
  for (const table of moved) if ((await countOf(table, tx)) > 0) throw notEmpty(table.name)
}

/** Counts what nodes would have counted; see `Counters`. */
async function writeCounts(tx: Transaction): Promise<void> {
  const outcomes = outcomesWithoutEffect.map((outcome) => `'${outcome}'`).join(', ')
  const counts = await tx.all<{ name: string; value: number }>(`
    SELECT outcome AS name, count(*) AS value FROM requests WHERE outcome IN (${outcomes}) GROUP BY outcome
    UNION ALL SELECT 'keptBytes', coalesce(sum(kept), 0) FROM requests WHERE kept IS NOT NULL
    UNION ALL SELECT 'backlog', count(*) FROM tasks WHERE kind IN ('run', 'delivery')
    UNION ALL SELECT 'pending', count(*) FROM events WHERE pending = 1
    UNION ALL SELECT 'pendingNow', count(*) FROM events WHERE pending = 1 AND urgency = 0`)
  const node = randomUUID()
  // The embedded database keeps the number of its commits there.
  await tx.run(`DELETE FROM counts WHERE name <> 'commits'`)
  await tx.insert(
    tables.counts,
    counts.map(({ name, value }) => [node, name, Number(value)]),
  )
}

function rowOfValue({ source, name, value }: OutsideValue): Row {
  return [source, name, value].map(encodeString)
}

function valueOfRow(row: Row): OutsideValue {
  const [source = '', name = '', value = ''] = row.map((each) => decodeString(String(each)))
  return { source, name, value }
}

function sumOf(counts: RowCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

function bad(what: string): StoreError {
  return new StoreError('BAD_ENTRY', `the export cannot be imported: ${what}`)
}

function otherSchema(found: unknown, fix: string): StoreError {
  return new StoreError(
    'STORE_UNAVAILABLE',
    `this is schema ${found}, and this version has schema ${schemaVersion}`,
    {
      fix: `${fix}.`,
    },
  )
}

function notEmpty(what: string): StoreError {
  return new StoreError('STORE_UNAVAILABLE', `the store is not empty: it has ${what}`, {
    fix: 'An export is imported before the first start.',
  })
}

function unavailable(message: string): StoreError {
  return new StoreError('STORE_UNAVAILABLE', message)
}
