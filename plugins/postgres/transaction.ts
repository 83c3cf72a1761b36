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

/** The trace of a transaction whose COMMIT was not answered. */
export interface Trace {
  /** The number of the transaction; undefined for one that has written nothing. */
  readonly number: string | undefined
  /** A row that it has inserted, and no other transaction: the statement that selects it, with its values. */
  readonly row: readonly [sql: string, values: readonly SqlValue[]] | undefined
  /** The start of the server; see `Session`. */
  readonly run: string
}

export type Running = ReturnType<typeof beginTransaction>

/** The current state of a transaction. */
interface State {
  readonly connection: Connection
  /** The error for which it can be run again as a whole. */
  doomed?: unknown
  /** The first error of a statement. */
  failure?: unknown
  number: Promise<string> | undefined
  row: Trace['row']
}

function note(state: State, error: unknown): void {
  state.failure ??= error
  if (isLost(error) || isCollision(error)) state.doomed ??= error
}

/** Asked together with the first statement that writes. */
function askNumber(state: State): void {
  const asked = state.connection.client
    .query('SELECT pg_current_xact_id()::text AS number')
    .then(({ rows }) => rows[0].number as string)
  state.number = asked
  asked.catch((error) => {
    note(state, error)
    state.number = undefined
  })
}

async function statement(state: State, sql: string, values?: readonly SqlValue[]) {
  if (state.doomed !== undefined) throw driverErrorOf(state.doomed)
  if (state.number === undefined && prepare(sql).isWriting) askNumber(state)
  try {
    return await send(state.connection, sql, values)
  } catch (error) {
    note(state, error)
    // Errors after a failed statement only say that they came after it.
    throw driverErrorOf(stateOf(error) === '25P02' ? state.failure : error)
  }
}

function transactionOf(state: State): Transaction {
  return {
    async all<Row>(sql: string, values?: readonly SqlValue[]) {
      return (await statement(state, sql, values)).rows as Row[]
    },
    async run(sql, values) {
      return (await statement(state, sql, values)).rowCount ?? 0
    },
    async insert(table, rows, onConflict) {
      const [first] = rows
      if (first === undefined) return 0
      const { rowCount } = await statement(state, insertInto(table, onConflict), arraysOf(rows))
      if (onConflict === undefined) state.row ??= rowOf(table, first)
      return rowCount ?? 0
    },
    async update(table, columns, rows) {
      if (rows.length === 0) return 0
      return (await statement(state, updateOf(table, columns), arraysOf(rows))).rowCount ?? 0
    },
    async lock(keys) {
      if (keys.length > 0) await statement(state, lockAll, [lockNumbers(keys)])
    },
    async nested(work) {
      const { failure, row } = state
      await statement(state, 'SAVEPOINT nested')
      try {
        const result = await work()
        await statement(state, 'RELEASE nested')
        return result
      } catch (error) {
        if (state.doomed === undefined) {
          await statement(state, 'ROLLBACK TO nested')
          await statement(state, 'RELEASE nested')
          Object.assign(state, { failure, row })
        }
        throw error
      }
    },
  }
}

export function beginTransaction(connection: Connection) {
  const { client, session } = connection
  const state: State = { connection, number: undefined, row: undefined }
  const begun = client.query(session.begin)
  begun.catch((error) => note(state, error))

  return {
    tx: transactionOf(state),
    /** The error for which it can be run again as a whole; undefined if there is none. */
    doomed: () => state.doomed,
    /** Resolves when it may be committed. */
    async ready(): Promise<void> {
      try {
        await begun
        await state.number
      } catch (error) {
        throw driverErrorOf(state.failure ?? error)
      }
      if (state.doomed !== undefined) throw driverErrorOf(state.doomed)
    },
    async commit(): Promise<void> {
      const { command } = await client.query('COMMIT')
      // One in which a statement failed is rolled back by its COMMIT.
      if (command !== 'COMMIT') throw state.failure ?? new TypeError('the transaction was rolled back')
    },
    async rollBack(): Promise<void> {
      await client.query('ROLLBACK').catch((error) => note(state, error))
    },
    trace: async (): Promise<Trace> => ({ number: await state.number, row: state.row, run: session.run }),
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
