/** Looks at the database as an operator would: its version, and what keeps it from removing dead rows. */

import { type DatabaseState, StoreError } from '../port.ts'
import { createDatabase, type Query, storeErrorOf } from './connection.ts'
import { migrations } from './migrations.ts'
import { checkPrivileges } from './schema.ts'

/**
 * A role sees what other roles do only with `pg_read_all_stats`. A session that only has read so far, and is between two statements, holds
 * nothing back. What was prepared for two phases has no session.
 */
const oldest = `
  SELECT extract(epoch FROM clock_timestamp() - since) * 1000 AS age, by FROM (
    SELECT xact_start AS since, concat_ws(' ', coalesce(nullif(application_name, ''), usename), '(process ' || pid || ', ' || state || ')') AS by
    FROM pg_catalog.pg_stat_activity
    WHERE datname = current_database() AND xact_start IS NOT NULL AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
    UNION ALL
    SELECT prepared, 'the prepared transaction ' || gid FROM pg_catalog.pg_prepared_xacts WHERE database = current_database()
  ) AS transactions ORDER BY since LIMIT 1`

export async function readDatabaseState(query: Query): Promise<DatabaseState> {
  const [[server], [transaction]] = await Promise.all([
    query<{ version: string }>(`SELECT split_part(current_setting('server_version'), ' ', 1) AS version`),
    query<{ age: string | number; by: string }>(oldest),
  ])
  return {
    version: server?.version ?? '',
    ...(transaction && {
      oldestTransaction: { ageMs: Math.max(0, Math.round(Number(transaction.age))), by: transaction.by },
    }),
  }
}

/** What can be said of a database from outside of a gateway. `skewMs`: how far this machine's clock is ahead of the database's. */
export interface Examination {
  readonly state: DatabaseState
  readonly skewMs: number
  /** False before the first start of a gateway. */
  readonly hasStore: boolean
}

/** @throws StoreError which says why a gateway could not use it either */
export async function examineDatabase(location: string, now: () => number): Promise<Examination> {
  const database = await createDatabase({ location })
  const link = database.link('doctor')
  try {
    const [{ there: hasStore } = { there: false }] = await link.query<{ there: boolean }>(
      `SELECT to_regclass('reveille.meta') IS NOT NULL AS there`,
    )
    if (hasStore) {
      await checkSchema(link.query)
      await checkPrivileges(link)
    }
    const asked = now()
    const [clock] = await link.query<{ at: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at',
    )
    const skewMs = Math.round((asked + now()) / 2 - (clock?.at ?? 0))
    return { state: await readDatabaseState(link.query), skewMs, hasStore }
  } catch (error) {
    throw storeErrorOf(error)
  } finally {
    await database.close()
  }
}

/** A node serves the schema of the next version too. @throws StoreError `SCHEMA_NEWER` */
async function checkSchema(query: Query): Promise<void> {
  const [row] = await query<{ schema: number }>('SELECT schema FROM reveille.meta')
  const schema = row?.schema ?? 0
  if (schema <= migrations.length + 1) return
  throw new StoreError(
    'SCHEMA_NEWER',
    `the database has schema ${schema}, and this version serves up to ${migrations.length + 1}`,
  )
}
