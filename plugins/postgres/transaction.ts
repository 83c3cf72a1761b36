/**
 * One transaction on one connection.
 *
 * A transaction that has written has a number, by which it is found on another connection if the answer to its COMMIT is lost. Once it
 * has collided with another one, or its connection is lost, nothing of it can succeed any more, whatever its work makes of the error.
 */

import type { SqlValue, Table, Transaction } from '@reveille/kit'
import type { Connection } from './connections.ts'
import { driverErrorOf, isCollision, isLost, stateOf } from './errors.ts'
import { arraysOf, insertInto, lockAll, lockNumbers, prepare, send, updateOf } from './statements.ts'

/** What is left of a transaction whose COMMIT was not answered. */
export interface Trace {
  /** The number of the transaction; undefined for one that has written nothing. */
  readonly number: string | undefined
  /** A row that it has inserted, and no other transaction: the statement that selects it, with its values. */
  readonly row: readonly [sql: string, values: readonly SqlValue[]] | undefined
  /** The start of the server; see `Session`. */
  readonly run: string
}

export type Running = ReturnType<typeof beginTransaction>

export function beginTransaction(connection: Connection) {
  const { client, session } = connection
  let doomed: unknown
  let failure: unknown
  let number: Promise<string> | undefined
  let row: Trace['row']
  const inserted = new Set<string>()
  const begun = client.query(session.begin)
  begun.catch(note)

  function note(error: unknown): void {
    failure ??= error
    if (isLost(error) || isCollision(error)) doomed ??= error
  }

  /** Asked together with the first statement that writes. */
  function askNumber(): void {
    const asked = client
      .query('SELECT pg_current_xact_id()::text AS number')
      .then(({ rows }) => rows[0].number as string)
    number = asked
    asked.catch((error) => {
      note(error)
      number = undefined
    })
  }

  async function statement(sql: string, values?: readonly SqlValue[]) {
    if (doomed !== undefined) throw driverErrorOf(doomed)
    if (number === undefined && prepare(sql).isWriting) askNumber()
    try {
      return await send(connection, sql, values)
    } catch (error) {
      note(error)
      // What comes after a statement that failed says only that it came after.
      throw driverErrorOf(stateOf(error) === '25P02' ? failure : error)
    }
  }

  const tx: Transaction = {
    async all<Row>(sql: string, values?: readonly SqlValue[]) {
      return (await statement(sql, values)).rows as Row[]
    },
    async run(sql, values) {
      return (await statement(sql, values)).rowCount ?? 0
    },
    async insert(table, rows, onConflict) {
      const [first] = rows
      if (first === undefined) return 0
      const { rowCount } = await statement(insertInto(table, onConflict), arraysOf(rows))
      inserted.add(table.name)
      if (onConflict === undefined) row ??= rowOf(table, first)
      return rowCount ?? 0
    },
    async update(table, columns, rows) {
      if (rows.length === 0) return 0
      return (await statement(updateOf(table, columns), arraysOf(rows))).rowCount ?? 0
    },
    async lock(keys) {
      if (keys.length > 0) await statement(lockAll, [lockNumbers(keys)])
    },
    async nested(work) {
      const before = failure
      const rowBefore = row
      await statement('SAVEPOINT nested')
      try {
        const result = await work()
        await statement('RELEASE nested')
        return result
      } catch (error) {
        if (doomed === undefined) {
          await statement('ROLLBACK TO nested')
          await statement('RELEASE nested')
          failure = before
          row = rowBefore
        }
        throw error
      }
    },
  }

  return {
    tx,
    /** The error for which it can be run again as a whole; undefined if there is none. */
    doomed: () => doomed,
    hasWritten: () => number !== undefined,
    /** The names of tables into which rows were inserted. */
    inserted,
    /** Resolves when it may be committed. */
    async ready(): Promise<void> {
      try {
        await begun
        await number
      } catch (error) {
        throw driverErrorOf(failure ?? error)
      }
      if (doomed !== undefined) throw driverErrorOf(doomed)
    },
    async commit(): Promise<void> {
      const { command } = await client.query('COMMIT')
      // One in which a statement failed is rolled back by its COMMIT.
      if (command !== 'COMMIT') throw failure ?? new TypeError('the transaction was rolled back')
    },
    async rollBack(): Promise<void> {
      await client.query('ROLLBACK').catch(note)
    },
    trace: async (): Promise<Trace> => ({ number: await number, row, run: session.run }),
  }
}

/** Returns how a row is found by its key, if that is known before it is inserted. */
function rowOf({ name, columns, primaryKey }: Table, values: readonly SqlValue[]): Trace['row'] {
  const names = Object.keys(columns).filter((column) => columns[column]?.type !== 'sequence')
  const key = primaryKey.map((column) => values[names.indexOf(column)])
  if (key.includes(undefined)) return undefined
  const where = primaryKey.map((column, index) => `${column} = ?${index + 1}`).join(' AND ')
  return [`SELECT 1 FROM ${name} WHERE ${where}`, key as SqlValue[]]
}
