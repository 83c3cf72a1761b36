/** Reads a summary of a store that this process does not serve, and changes nothing in its folder. */

import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { type RequestRecord, StoreError } from '../../port.ts'
import { reasonOf } from '../database/failure.ts'
import { databaseFile } from '../database/folder.ts'
import { migrations, schemaOf } from '../database/migrations.ts'
import { readCounters } from '../records/counters.ts'
import { createQueries } from './queries.ts'

export type StoreSummary = ReturnType<typeof summarise>

/** @throws StoreError when there is no store, or none that can be read without leaving a trace */
export function readStoreSummary(location: string): StoreSummary {
  const file = databaseFile(location)
  if (!existsSync(file)) throw new StoreError('STORE_UNAVAILABLE', `there is no store in ${location}`)
  const db = attempt(() => open(file))
  try {
    return attempt(() => summarise(db))
  } catch (error) {
    db.close()
    throw error
  }
}

const generationsIn = ["SELECT max(record ->> '$.generation') AS generation FROM deliveries"]
/** Where each schema keeps the generations of its records. The store may not have been migrated yet. */
const generationsBefore6 = ['requests', 'runs', 'events'].map(
  (table) => `SELECT max(record ->> '$.generation') AS generation FROM ${table}`,
)
const generationsFrom6 = [
  'SELECT max(generation) AS generation FROM requests',
  "SELECT max(draft ->> '$.generation') AS generation FROM runs",
  'SELECT max(generation) AS generation FROM events',
]

/** Reads every record for the highest generation that one names. Returns 0 if there is none or the store cannot be read. */
export function highestGenerationIn(location: string): number {
  const file = databaseFile(location)
  if (!existsSync(file)) return 0
  let db: DatabaseSync | undefined
  try {
    db = open(file)
    const selects = [...generationsIn, ...(schemaOf(db) < 6 ? generationsBefore6 : generationsFrom6)]
    const sql = `SELECT max(generation) AS highest FROM (${selects.join(' UNION ALL ')})`
    return (db.prepare(sql).get() as { highest: number | null }).highest ?? 0
  } catch {
    // The process that serves the store reports what is wrong with it.
    return 0
  } finally {
    db?.close()
  }
}

/**
 * SQLite keeps two files beside a database that is in use, and a reader creates them if they are missing. If another user
 * created them, the gateway could not open its store. So a store without them, which a gateway has closed, is read as
 * immutable.
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

function summarise(db: DatabaseSync) {
  if (schemaOf(db) !== migrations.length)
    throw new StoreError('STORE_UNAVAILABLE', 'the store was written by another version of Reveille')
  const { list, openDeliveries } = createQueries(db)
  return {
    /** The newest requests, newest first. `more` says that there are others. */
    requests(limit: number): { readonly items: readonly RequestRecord[]; readonly more: boolean } {
      const { records, isCut } = attempt(() => list({ table: 'requests', filters: {}, limit: limit + 1 }))
      const items = records.slice(0, limit).map((record) => JSON.parse(record) as RequestRecord)
      return { items, more: isCut || records.length > limit }
    },
    openDeliveries: () => attempt(openDeliveries),
    parkedRuns: () =>
      attempt(() => {
        // With these conditions SQLite uses the partial index, which leaves out queued and succeeded runs.
        const sql = `SELECT count(*) AS count FROM runs
          WHERE state = 'parked' AND state <> 'queued' AND state <> 'succeeded'`
        return (db.prepare(sql).get() as { count: number }).count
      }),
    /** Queued runs and unsent deliveries. */
    backlog: () => attempt(() => readCounters(db).backlog),
    close: () => db.close(),
  }
}

function attempt<Made>(make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    if (error instanceof StoreError) throw error
    throw new StoreError('STORE_UNAVAILABLE', `the store cannot be read: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}
