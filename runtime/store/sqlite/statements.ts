/** Runs the store's statements on one connection. */

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Dialect, SqlValue, Table, Transaction } from '@reveille/kit'
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
  forUpdate: '',
  skipLocked: '',
  tableOptions: 'STRICT',
}

/** Runs a statement. @throws StoreError */
function translated<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    throw storeErrorOf(error)
  }
}

/** How many statements stay prepared. The store has fewer, apart from the combinations of filters. */
const maxPrepared = 500

/** A value as SQLite takes it. A list is JSON. */
function bound(value: SqlValue): SQLInputValue {
  return Array.isArray(value) ? JSON.stringify(value) : (value as SQLInputValue)
}

export function createStatements(db: DatabaseSync): Transaction {
  const prepared = new Map<string, StatementSync>()
  const inserts = new Map<string, StatementSync>()

  function prepare(sql: string): StatementSync {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    if (prepared.size >= maxPrepared) prepared.clear()
    const statement = db.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }

  function insertInto({ name, columns }: Table, onConflict: string): StatementSync {
    const key = `${onConflict} ${name}`
    const known = inserts.get(key)
    if (known !== undefined) return known
    const names = Object.entries(columns).flatMap(([column, { type }]) => (type === 'sequence' ? [] : column))
    const values = names.map(() => '?').join(', ')
    const statement = db.prepare(`INSERT ${onConflict} INTO ${name} (${names.join(', ')}) VALUES (${values})`)
    inserts.set(key, statement)
    return statement
  }

  const statements = {
    async all(sql: string, values: readonly SqlValue[] = []) {
      return translated(() => prepare(sql).all(...values.map(bound)))
    },
    async run(sql: string, values: readonly SqlValue[] = []) {
      return translated(() => Number(prepare(sql).run(...values.map(bound)).changes))
    },
    async insert(table: Table, rows: readonly (readonly SqlValue[])[], onConflict?: 'IGNORE') {
      return translated(() => {
        const statement = insertInto(table, onConflict === undefined ? '' : 'OR IGNORE')
        let inserted = 0
        for (const row of rows)
          inserted += Number(statement.run(...(row as readonly SQLInputValue[])).changes)
        return inserted
      })
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
  return statements as Transaction
}
