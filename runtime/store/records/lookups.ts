/**
 * Finds requests by the fields that lists filter by, without an index that each accept would pay for. Requests are divided into blocks of
 * about four seconds. For each block the index names the values that occur in it, and a search reads those blocks alone. The index is
 * written by the retention, some minutes later; newer requests are scanned.
 */

import type { SqlValue, Statements } from '@reveille/kit'
import type { Context } from '../context.ts'
import { idOfTime, timeOfId } from '../id.ts'
import type { Id } from '../port.ts'
import { tables } from '../schema.ts'
import type { RequestRow } from './rows.ts'

/** The columns that are indexed. A search goes by the first of them, whose values are likely to occur least. */
export const lookupColumns = [
  'delivery',
  'code',
  'mapping',
  'client',
  'endpoint',
  'generation',
  'digest',
  'node',
] as const satisfies readonly (keyof RequestRow)[]

export type LookupColumn = (typeof lookupColumns)[number]

const blockMs = 4_096
/** Requests are indexed when they are this old: nearly all that were received by then are on disk. Milliseconds. */
const lagMs = 120_000
/** Number of requests indexed at one time. */
const stride = 100

type Indexed = Pick<RequestRow, 'id' | LookupColumn>

const selected = ['id', ...lookupColumns].join(', ')

async function index(tx: Context, rows: readonly Indexed[]): Promise<void> {
  const found = new Map<string, SqlValue[]>()
  for (const row of rows) {
    const block = Math.floor(timeOfId(row.id) / blockMs)
    for (const name of lookupColumns) {
      const value = row[name]
      if (value !== null) found.set(JSON.stringify([name, value, block]), [name, String(value), block])
    }
  }
  if (found.size > 0) await tx.insert(tables.lookups, [...found.values()], 'ON CONFLICT DO NOTHING')
}

/** The first id that is not indexed. */
async function readEnd({ all }: Statements): Promise<Id> {
  const [row] = await all<{ id: Id }>('SELECT id FROM lookups_end')
  return row?.id ?? idOfTime(0)
}

/** Indexes the next requests. Returns whether more are old enough. */
export async function indexSome(tx: Context): Promise<boolean> {
  const [from, until] = [await readEnd(tx), idOfTime(tx.now - lagMs)]
  if (from >= until) return false
  const rows = await tx.all<Indexed>(
    `SELECT ${selected} FROM requests WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ${stride}`,
    [from, until],
  )
  await index(tx, rows)
  const next = rows.length < stride ? until : (rows.at(-1)?.id ?? until)
  await tx.run('DELETE FROM lookups_end')
  await tx.insert(tables.lookups_end, [[1, next]])
  return rows.length === stride
}

/** Indexes requests that were written long after their ids were minted: their answers took minutes, or the clock was set back. */
export async function indexLate(tx: Context, ids: readonly Id[]): Promise<void> {
  const oldest = idOfTime(tx.now - lagMs)
  const late = ids.filter((id) => id < oldest)
  if (late.length === 0) return
  await index(
    tx,
    await tx.all<Indexed>(`SELECT ${selected} FROM requests WHERE id IN ${tx.dialect.among('?1', 'id')}`, [
      late,
    ]),
  )
}

/** Deletes some of what leads to requests that are gone. Returns whether there may be more. */
export async function dropLookups(tx: Context): Promise<boolean> {
  const [oldest] = await tx.all<{ id: Id }>('SELECT id FROM requests ORDER BY id LIMIT 1')
  if (oldest === undefined) return false
  const block = Math.floor(timeOfId(oldest.id) / blockMs)
  const rows = await tx.all<{ block: number }>(
    'SELECT block FROM lookups WHERE block < ?1 ORDER BY block LIMIT 1',
    [block],
  )
  const [first] = rows
  if (first === undefined) return false
  await tx.run('DELETE FROM lookups WHERE block = ?1', [first.block])
  return true
}

/**
 * Returns the ranges of ids that may hold requests with this value, the newest first: what is not indexed yet, and the blocks that the
 * index names. Each range is from its first id up to its second.
 */
export async function* rangesWith(
  statements: Statements,
  name: LookupColumn,
  value: string,
  before: Id | undefined,
): AsyncGenerator<readonly [from: Id, until: Id | undefined]> {
  const end = await readEnd(statements)
  if (before === undefined || end < before) yield [end, before]
  const last = before !== undefined && before < end ? before : end
  let block = Math.floor(timeOfId(last) / blockMs) + 1
  for (;;) {
    const rows = await statements.all<{ block: number }>(
      `SELECT block FROM lookups WHERE name = ?1 AND value = ?2 AND block < ?3 ORDER BY block DESC LIMIT ${stride}`,
      [name, value, block],
    )
    for (const row of rows) {
      const until = idOfTime((row.block + 1) * blockMs)
      yield [idOfTime(row.block * blockMs), until < last ? until : last]
      block = row.block
    }
    if (rows.length < stride) return
  }
}
