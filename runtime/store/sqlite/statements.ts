/** Runs the store's statements on one connection. */

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Dialect, SqlValue, Table, Transaction } from '@reveille/kit'
import type { StoreError } from '../port.ts'
import { storeErrorOf } from './failure.ts'

export const dialect: Dialect = {
  types: {
    id: 'TEXT',
    text: 'TEXT',
    integer: 'INTEGER',
    number: 'REAL',
    bytes: 'BLOB',
    sequence: 'INTEGER PRIMARY KEY',
  },
  among: (parameter) => `(SELECT value FROM json_each(${parameter}))`,
  list: (parameter) => `json_each(${parameter}) AS list`,
  forUpdate: '',
  skipLocked: '',
  tableOptions: 'STRICT',
}

/** Maximum number of statements that stay prepared. The store has fewer, apart from the combinations of filters. */
const maxPrepared = 500

/** A value as SQLite takes it. A list is JSON. */
function bound(value: SqlValue): SQLInputValue {
  return Array.isArray(value) ? JSON.stringify(value) : (value as SQLInputValue)
}

const inserts = new WeakMap<Table, string>()

function insertInto(table: Table): string {
  const cached = inserts.get(table)
  if (cached !== undefined) return cached
  const names = Object.keys(table.columns).filter((column) => table.columns[column]?.type !== 'sequence')
  const sql = `INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
  inserts.set(table, sql)
  return sql
}

function updateOf({ name, primaryKey }: Table, columns: readonly string[]): string {
  const changes = columns.map((column, index) => `${column} = ?${primaryKey.length + index + 1}`)
  const key = primaryKey.map((column, index) => `${column} = ?${index + 1}`)
  return `UPDATE ${name} SET ${changes.join(', ')} WHERE ${key.join(' AND ')}`
}

export function createStatements(
  db: DatabaseSync,
): Transaction & { readonly begun: (isOn: boolean) => void } {
  const prepared = new Map<string, StatementSync>()
  let isBegun = false
  /** Reason why SQLite has undone the transaction by itself, as on a full disk: later statements would be written without one. */
  let undone: StoreError | undefined

  /** Runs a statement. @throws StoreError */
  function translated<Result>(run: () => Result): Result {
    if (undone !== undefined) throw undone
    try {
      return run()
    } catch (error) {
      const failure = storeErrorOf(error)
      if (isBegun && !db.isTransaction) undone = failure
      throw failure
    }
  }
  function prepare(sql: string): StatementSync {
    const cached = prepared.get(sql)
    if (cached !== undefined) return cached
    if (prepared.size >= maxPrepared) prepared.clear()
    const statement = db.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }

  /** Runs a statement for each row. Returns how many rows changed. */
  function runEach(sql: string, rows: readonly (readonly SqlValue[])[]): number {
    return translated(() => {
      const statement = prepare(sql)
      let changes = 0
      for (const row of rows) changes += Number(statement.run(...(row as readonly SQLInputValue[])).changes)
      return changes
    })
  }

  const statements = {
    /** A transaction begins, or has ended. */
    begun(isOn: boolean) {
      isBegun = isOn
      undone = undefined
    },
    async all(sql: string, values: readonly SqlValue[] = []) {
      return translated(() => prepare(sql).all(...values.map(bound)))
    },
    async run(sql: string, values: readonly SqlValue[] = []) {
      return translated(() => Number(prepare(sql).run(...values.map(bound)).changes))
    },
    async insert(table: Table, rows: readonly (readonly SqlValue[])[], onConflict = '') {
      return runEach(`${insertInto(table)} ${onConflict}`, rows)
    },
    async update(table: Table, columns: readonly string[], rows: readonly (readonly SqlValue[])[]) {
      return runEach(updateOf(table, columns), rows)
    },
    /** There is one writer. */
    async lock() {},
    async nested<Result>(work: () => Promise<Result>): Promise<Result> {
      prepare('SAVEPOINT nested').run()
      try {
        const result = await work()
        prepare('RELEASE nested').run()
        return result
      } catch (error) {
        if (db.isTransaction) {
          prepare('ROLLBACK TO nested').run()
          prepare('RELEASE nested').run()
        }
        throw error
      }
    },
  }
  return statements as Transaction & typeof statements
}
