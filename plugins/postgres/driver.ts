/** The driver for PostgreSQL. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Driver, DriverOptions, SqlValue, Statements, Transaction } from '@reveille/kit'
import {
  type Connection,
  type Connections,
  createConnections,
  defaultTimes,
  type Times,
} from './connections.ts'
import { driverErrorOf, grants, isCollision, isLost, stateOf, unavailable } from './errors.ts'
import { createNotifications } from './notifications.ts'
import { dialect, send } from './statements.ts'
import { beginTransaction, type Trace } from './transaction.ts'

/** Maximum number of attempts of a transaction that collides with others, and of one whose connection is lost. */
const maxCollisions = 20
const maxLosses = 3
/** Maximum milliseconds before a transaction is run again. */
const maxPauseMs = 20
/** Milliseconds between two questions for an unclear commit. They double with each. */
const askPauseMs = 50
const maxAskPauseMs = 1_000

const sql = {
  clock: 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at',
  /** A notification is lost with its server, so its commit does not wait for the disk. */
  notify: `SELECT pg_notify('reveille', ?1), set_config('synchronous_commit', 'off', true)`,
  hasSchema: `SELECT has_schema_privilege(oid, 'USAGE') AS "isUsable" FROM pg_catalog.pg_namespace WHERE nspname = 'reveille'`,
  status: 'SELECT pg_xact_status(?1::xid8) AS status',
  /** Ends a transaction whose COMMIT has not arrived. */
  endIdle: `SELECT pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
    WHERE backend_xid = (?1::xid8)::xid AND state LIKE 'idle in transaction%'`,
  version: `SELECT split_part(current_setting('server_version'), ' ', 1) AS version`,
  /**
   * A role sees what other roles do only with \`pg_read_all_stats\`. A session that only has read so far, and is between two statements,
   * holds nothing back. A transaction prepared for two phases has no session.
   */
  oldest: `SELECT (extract(epoch FROM clock_timestamp() - since) * 1000)::bigint AS age, by FROM (
      SELECT xact_start AS since, concat_ws(' ', coalesce(nullif(application_name, ''), usename), '(process ' || pid || ', ' || state || ')') AS by
      FROM pg_catalog.pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
      UNION ALL
      SELECT prepared, 'the prepared transaction ' || gid FROM pg_catalog.pg_prepared_xacts WHERE database = current_database()
    ) AS transactions ORDER BY since LIMIT 1`,
}

/** Nothing of the transaction has happened, and it may succeed when it is run again. */
class Undone extends Error {}

export interface PostgresDriverOptions extends DriverOptions {
  /** For tests. */
  readonly times?: Partial<Times>
}

/** State that the driver's functions share. */
interface Parts {
  readonly connections: Connections
  /** Aborted when the driver is closed. */
  readonly closing: AbortSignal
}

/** @throws DriverError which says why the database cannot be used */
export async function openPostgresDriver({ location, times }: PostgresDriverOptions): Promise<Driver> {
  const connections = createConnections(location, { ...defaultTimes, ...times })
  const closing = new AbortController()
  const parts: Parts = { connections, closing: closing.signal }
  const firstRow = async <Row>(text: string, values?: readonly SqlValue[]): Promise<Row | undefined> =>
    await read(parts, async ({ all }) => (await all<Row>(text, values))[0])
  const notifications = createNotifications(connections, async (text) => {
    await firstRow(sql.notify, [text]).catch(() => undefined)
  })

  const driver: Driver = {
    dialect,
    isShared: true,
    transaction: (work) => transaction(parts, work),
    createNamespace: createSchema,
    read: (work) => read(parts, work),
    async clock() {
      return (await firstRow<{ at: number }>(sql.clock))?.at ?? 0
    },
    notify: notifications.send,
    listen: notifications.listen,
    async describe() {
      const server = await firstRow<{ version: string }>(sql.version)
      const oldest = await firstRow<{ age: number; by: string }>(sql.oldest)
      return {
        version: server?.version ?? '',
        ...(oldest && { oldestTransaction: { ageMs: Math.max(0, oldest.age), by: oldest.by } }),
      }
    },
    async close() {
      closing.abort()
      notifications.close()
      await connections.close()
    },
  }
  try {
    await checkSchema(driver)
  } catch (error) {
    await driver.close()
    throw error
  }
  return driver
}

type Work<Result> = (tx: Transaction) => Promise<Result>

async function transaction<Result>(parts: Parts, work: Work<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(parts, work)
    } catch (error) {
      if (!(error instanceof Undone)) throw error
      const maxTries = isCollision(error.cause) ? maxCollisions : maxLosses
      if (tries >= maxTries) throw driverErrorOf(error.cause)
      await pause(Math.random() * maxPauseMs)
    }
  }
}

async function attempt<Result>(parts: Parts, work: Work<Result>): Promise<Result> {
  const connection = await parts.connections.take()
  const running = beginTransaction(connection)
  let result: Result
  try {
    result = await work(running.tx)
    await running.ready()
  } catch (error) {
    await running.rollBack()
    const doomed = running.doomed()
    connection.release(isLost(doomed))
    throw doomed === undefined ? error : new Undone('', { cause: doomed })
  }
  try {
    await running.commit()
  } catch (error) {
    connection.release(isLost(error))
    if (!isLost(error)) throw isCollision(error) ? new Undone('', { cause: error }) : driverErrorOf(error)
    if (!(await wasCommitted(parts, await running.trace()))) throw new Undone('', { cause: error })
    return result
  }
  connection.release()
  return result
}

/** Asks until it is known whether a transaction was committed. */
async function wasCommitted(parts: Parts, trace: Trace): Promise<boolean> {
  const { closing } = parts
  if (trace.number === undefined) return true
  for (let ms = askPauseMs; !closing.aborted; ms = Math.min(2 * ms, maxAskPauseMs)) {
    const ask = read(parts, (statements, session) => outcomeOf(trace, statements, session.run))
    const isCommitted = await ask.catch(notYet)
    if (isCommitted !== undefined) return isCommitted
    await pause(ms, undefined, { signal: closing }).catch(() => undefined)
  }
  throw unavailable('the store was closed before it was known whether a transaction was committed')
}

async function read<Result>(
  { connections }: Parts,
  work: (statements: Statements, session: Connection['session']) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    const connection = await connections.take()
    const { client, session, release } = connection
    let failure: unknown
    const statements = session.isPooled
      ? beginTransaction(connection).tx
      : plain(connection, (error) => (failure ??= error))
    try {
      return await work(statements, session)
    } catch (error) {
      failure ??= (error as Error).cause
      if (!isLost(failure) || tries >= maxLosses) throw error
    } finally {
      if (session.isPooled) await client.query('COMMIT').catch((error) => (failure ??= error))
      release(isLost(failure))
    }
  }
}

/** Statements without a transaction around them. */
function plain(connection: Connection, onError: (error: unknown) => void): Statements {
  async function statement(text: string, values?: readonly SqlValue[]) {
    try {
      return await send(connection, text, values)
    } catch (error) {
      onError(error)
      throw driverErrorOf(error)
    }
  }
  return {
    async all<Row>(text: string, values?: readonly SqlValue[]) {
      return (await statement(text, values)).rows as Row[]
    },
    async run(text, values) {
      return (await statement(text, values)).rowCount ?? 0
    },
  }
}

/**
 * Returns whether a transaction was committed; undefined if it may still be. A number that the server has not given yet, or that it has
 * given to another transaction, was given before a crash, which has undone that transaction if none of its rows is there.
 * @throws DriverError if nothing but its number is known of it, and that is not enough
 */
async function outcomeOf(
  { number, row, run }: Trace,
  { all }: Statements,
  runNow: string,
): Promise<boolean | undefined> {
  const status = await statusOf(all, number as string)
  if (status === 'aborted') return false
  if (run === runNow) {
    if (status === 'committed') return true
    await all(sql.endIdle, [number as string])
    return undefined
  }
  if (row !== undefined) return (await all(...row)).length > 0
  throw new Unknowable()
}

async function statusOf(all: Statements['all'], number: string): Promise<string | null | undefined> {
  try {
    return (await all<{ status: string | null }>(sql.status, [number]))[0]?.status
  } catch (error) {
    if (stateOf((error as Error).cause) === '22023') return 'aborted'
    throw error
  }
}

class Unknowable extends Error {}

/** Throws an error that can be retried if the server could not be asked; any other error counts as unknown. */
function notYet(error: unknown): undefined {
  if (error instanceof Unknowable)
    throw unavailable('the server was restarted during a commit, which may have happened', { cause: error })
  return undefined
}

/** @throws DriverError if there is a schema that the role may not use */
async function checkSchema({ read }: Driver): Promise<void> {
  const [schema] = await read(({ all }) => all<{ isUsable: boolean }>(sql.hasSchema))
  if (schema?.isUsable === false) throw unavailable('the database role lacks a privilege', { fix: grants })
}

/** @throws DriverError if there is no schema, and the role may not create it */
async function createSchema({ all, run }: Statements): Promise<void> {
  // IF NOT EXISTS asks for the privilege first.
  if ((await all(sql.hasSchema)).length > 0) return
  try {
    await run('CREATE SCHEMA reveille')
  } catch (error) {
    if (stateOf((error as Error).cause) !== '42501') throw error
    throw unavailable('the database has no store yet, and this role may not make one', {
      cause: error,
      fix: 'Start one node as the owner of the database, or GRANT CREATE ON DATABASE to this role.',
    })
  }
}
