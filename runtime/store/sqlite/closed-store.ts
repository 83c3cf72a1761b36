/** Looks into a store that this process does not serve, and changes nothing in its folder. */

import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { StoreError } from '../port.ts'
import { recordTables, schemaOf, schemaVersion } from '../schema.ts'
import { reasonOf } from './failure.ts'
import { databaseFile, missingStore } from './folder.ts'
import { createStatements } from './statements.ts'

/** Returns why a gateway could not open its store, or undefined. A store that the first start will create is no problem. */
export async function storeProblem(location: string): Promise<StoreError | undefined> {
  const file = databaseFile(location)
  if (!existsSync(file)) return missingStore(location)
  let db: DatabaseSync | undefined
  try {
    db = open(file)
    if ((await schemaOf(createStatements(db))) > schemaVersion)
      return new StoreError('SCHEMA_NEWER', 'the store was written by a newer version of Reveille')
    return missingStore(location)
  } catch (error) {
    return new StoreError('STORE_UNAVAILABLE', `the store cannot be read: ${reasonOf(error)}`, {
      cause: error,
    })
  } finally {
    db?.close()
  }
}

/** Finds the highest generation that a record names. Returns 0 if there is none or the store cannot be read. */
export function highestGenerationIn(location: string): number {
  const file = databaseFile(location)
  if (!existsSync(file)) return 0
  let db: DatabaseSync | undefined
  try {
    db = open(file)
    const selects = recordTables.map(
      ({ name, columns }) =>
        `SELECT max(${'generation' in columns ? 'generation' : "record ->> '$.generation'"}) AS generation FROM ${name}`,
    )
    const sql = `SELECT max(generation) AS highest FROM (${selects.join(' UNION ALL ')})`
    return Number((db.prepare(sql).get() as { highest: number | null }).highest ?? 0)
  } catch {
    // The process that serves the store reports what is wrong with it.
    return 0
  } finally {
    db?.close()
  }
}

/**
 * SQLite keeps two files beside a database that is in use, and a reader creates them if they are missing. If another user created them,
 * the gateway could not open its store. So a store without them, which a gateway has closed, is read as immutable.
 */
function open(file: string): DatabaseSync {
  const [log, index] = [`${file}-wal`, `${file}-shm`].map((each) => existsSync(each))
  if (!log && !index) {
    const address = pathToFileURL(file)
    address.searchParams.set('immutable', '1')
    return new DatabaseSync(address, { readOnly: true })
  }
  if (!index && !isOurs(file)) throw new Error('it was not closed, and belongs to another user')
  return new DatabaseSync(file, { readOnly: true, timeout: 1_000 })
}

function isOurs(file: string): boolean {
  return process.getuid === undefined || statSync(file).uid === process.getuid()
}
