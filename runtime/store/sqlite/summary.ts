/** Reads a summary of a store that this process does not serve, and changes nothing in its folder. */

import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { readCounts } from '../context.ts'
import { StoreError } from '../port.ts'
import { answer, createReader } from '../reading.ts'
import { createRefusedRequests } from '../refused-requests.ts'
import { recordTables, schemaOf, schemaVersion } from '../schema.ts'
import { reasonOf } from './failure.ts'
import { databaseFile } from './folder.ts'
import { createStatements, dialect } from './statements.ts'

export type StoreSummary = Awaited<ReturnType<typeof summarise>>

/** @throws StoreError when there is no store, or none that can be read without leaving a trace */
export async function readStoreSummary(location: string): Promise<StoreSummary> {
  const file = databaseFile(location)
  if (!existsSync(file)) throw new StoreError('STORE_UNAVAILABLE', `there is no store in ${location}`)
  let db: DatabaseSync | undefined
  try {
    db = open(file)
    return await summarise(db)
  } catch (error) {
    db?.close()
    throw readable(error)
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
  if (!index && !isOurs(file))
    throw new StoreError('STORE_UNAVAILABLE', 'the store was not closed, and belongs to another user')
  return new DatabaseSync(file, { readOnly: true, timeout: 1_000 })
}

function isOurs(file: string): boolean {
  return process.getuid === undefined || statSync(file).uid === process.getuid()
}

async function summarise(db: DatabaseSync) {
  const statements = createStatements(db)
  if ((await schemaOf(statements)) !== schemaVersion)
    throw new StoreError('STORE_UNAVAILABLE', 'the store was written by another version of Reveille')
  const attempt = async <Made>(made: Promise<Made>): Promise<Made> => {
    try {
      return await made
    } catch (error) {
      throw readable(error)
    }
  }
  return {
    read: createReader(
      (question) => attempt(answer(statements, dialect.among, question)),
      createRefusedRequests(),
      Date.now,
      () => undefined,
    ),
    /** Queued runs and unsent deliveries. */
    backlog: async () => (await attempt(readCounts(statements))).backlog,
    close: () => db.close(),
  }
}

function readable(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError('STORE_UNAVAILABLE', `the store cannot be read: ${reasonOf(error)}`, { cause: error })
}
