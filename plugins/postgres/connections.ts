/**
 * Connections to PostgreSQL. There is a pool for each host of the address, and the first host that can be written to is used.
 *
 * Tables are in the schema `reveille`, and names of tables are written without it. The settings of a session are made once, where a
 * connection has a process of the server for itself; behind a pooler, which may give each transaction to another one, with each BEGIN.
 */

import { Socket } from 'node:net'
import pg from 'pg'
import { maxConnections, obstacleOf, readOnly, tooOld, unavailable } from './errors.ts'
import { parseLocation } from './location.ts'

/** The times after which something is given up. Milliseconds. */
export interface Times {
  /** A connection is not made, or no connection of the pool is free. */
  readonly connectMs: number
  /** The server ends a statement. */
  readonly statementMs: number
  /** The server ends a statement that waits for a lock. */
  readonly lockMs: number
  /** The server ends a transaction whose node has sent nothing, so that a paused node holds no locks. */
  readonly idleMs: number
  /** Milliseconds beyond the server's own limit that the client waits for the end of a statement, before it cuts the connection. */
  readonly silenceMs: number
}

export const defaultTimes: Times = {
  connectMs: 5_000,
  statementMs: 10_000,
  lockMs: 5_000,
  idleMs: 2_000,
  silenceMs: 2_000,
}

/** Properties of the server at the other end of a connection. */
export interface Session {
  /** The first statement of a transaction. */
  readonly begin: string
  /** True if a statement needs a transaction around it, for its settings. */
  readonly isPooled: boolean
  /** Differs for each start of a server, and after each crash, which gives the numbers of transactions that it has undone again. */
  readonly run: string
}

export interface Connection {
  readonly client: pg.ClientBase
  readonly session: Session
  /** Gives the connection back to its pool, which closes a lost one. */
  release(isLost?: boolean): void
}

export type Connections = ReturnType<typeof createConnections>

/** A connection on which nothing was sent for this long is probed by the operating system. Milliseconds. */
const keepAliveMs = 10_000
/** A connection that is not used for this long is closed, but for two. Milliseconds. */
const unusedMs = 60_000
/** Milliseconds that the server may take to close a connection. */
const goodbyeMs = 2_000
/** `pg_current_xact_id` and `pg_xact_status` came with it. */
const minVersion = 13

const startOfSession = `SELECT
  current_setting('transaction_read_only') = 'on' AS is_read_only, current_setting('server_version_num')::int / 10000 AS version,
  pg_backend_pid() AS process,
  concat(pg_postmaster_start_time(), ' ', (SELECT stats_reset FROM pg_stat_bgwriter)) AS run`

/**
 * Statements search indexes, row by row, whatever the statistics say: a plan that was made while a table was small is kept, and would read
 * all of the table once it is large. What such a plan is thought to cost would have the server compile it.
 */
const settings = ({ statementMs, lockMs, idleMs }: Times, scope: 'SESSION' | 'LOCAL') =>
  Object.entries({
    search_path: 'reveille',
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    jit: 'off',
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: idleMs,
  })
    .map(([name, value]) => `SET ${scope} ${name} = ${value}`)
    .join('; ')

/** One host of the address, and its pool. */
interface Host {
  readonly config: pg.PoolConfig
  readonly pool: pg.Pool
}

/** @throws DriverError for an address that cannot be read */
export function createConnections(location: string, times: Times) {
  const sessions = new WeakMap<pg.ClientBase, Session>()
  const sockets = createSockets()
  const begin = async (client: pg.ClientBase, config: pg.ClientConfig) =>
    void sessions.set(client, await beginSession(client, config, times))
  const hosts = parseLocation(location).map((config): Host => {
    const whole: pg.PoolConfig = {
      ...config,
      ...poolConfig(times),
      stream: sockets.open,
      onConnect: (client) => begin(client, config),
    }
    const pool = new pg.Pool(whole)
    // The pool has removed the connection that broke.
    pool.on('error', () => undefined)
    return { config: whole, pool }
  })
  /** The host that was used last. */
  let current = 0
  let closing: Promise<void> | undefined

  /** Tries the hosts, the one that was used last first. @throws DriverError */
  async function first<Made>(make: (host: Host) => Promise<Made>): Promise<Made> {
    const failures = []
    for (let tried = 0; tried < hosts.length; tried += 1) {
      if (closing !== undefined) throw unavailable('the store is closed')
      const index = (current + tried) % hosts.length
      const host = hosts[index] as Host
      try {
        const made = await make(host)
        current = index
        return made
      } catch (error) {
        failures.push(obstacleOf(error, host.config))
      }
    }
    const [failure] = failures
    if (failures.length === 1 && failure !== undefined) throw failure
    const message = failures.map((each) => each.message).join('; ')
    throw unavailable(message, { cause: failure, fix: failure?.fix })
  }

  return {
    /** Takes a connection of the pool. @throws DriverError `UNAVAILABLE` */
    take: (): Promise<Connection> =>
      first(async ({ pool }) => {
        const client = await pool.connect()
        const session = sessions.get(client) as Session
        return { client, session, release: (isLost = false) => client.release(isLost) }
      }),

    /** Opens a connection apart from the pool, which the caller ends. @throws DriverError `UNAVAILABLE` */
    open: (): Promise<pg.Client> =>
      first(async ({ config }) => {
        const client = new pg.Client(config)
        await client.connect()
        try {
          await begin(client, config)
        } catch (error) {
          void client.end()
          throw error
        }
        return client
      }),

    /** Says goodbye, and hangs up if the server does not listen, or a transaction does not end. */
    close(): Promise<void> {
      closing ??= sockets.close(Promise.all(hosts.map(({ pool }) => pool.end())))
      return closing
    },
  }
}

const poolConfig = ({ connectMs, statementMs, silenceMs }: Times): pg.PoolConfig => ({
  pipeline: true,
  application_name: 'reveille',
  connectionTimeoutMillis: connectMs,
  query_timeout: statementMs + silenceMs,
  keepAlive: true,
  keepAliveInitialDelayMillis: keepAliveMs,
  types: { getTypeParser },
  max: maxConnections - 1,
  min: 2,
  idleTimeoutMillis: unusedMs,
})

/** Examines the server, and makes the settings. @throws DriverError */
async function beginSession(client: pg.ClientBase, config: pg.ClientConfig, times: Times): Promise<Session> {
  // Without a listener an error would end the process. The caller that waits for a statement gets it.
  client.on('error', () => undefined)
  const { rows } = await client.query(startOfSession)
  const [{ is_read_only: isReadOnly, version, process, run }] = rows
  if (version < minVersion) throw tooOld(config, version, minVersion)
  if (isReadOnly) throw readOnly(config)
  // Behind a pooler the number that the client was given is none of the server.
  const isPooled = process !== (client as pg.ClientBase & { readonly processID: number }).processID
  if (!isPooled) await client.query(settings(times, 'SESSION'))
  return { run, isPooled, begin: isPooled ? `BEGIN; ${settings(times, 'LOCAL')}` : 'BEGIN' }
}

/** The sockets of all connections, so that they can be hung up. */
function createSockets() {
  const sockets = new Set<Socket>()

  async function allClosed(): Promise<void> {
    await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  }

  return {
    open(): Socket {
      const socket = new Socket()
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      return socket
    },
    /** Waits for goodbyes, and hangs up where they take too long. */
    async close(ended: Promise<unknown>): Promise<void> {
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, goodbyeMs)
      await Promise.race([ended.then(allClosed), late.promise])
      clearTimeout(timer)
      for (const socket of sockets) socket.destroy()
      await allClosed()
    },
  }
}

const [int8, numeric, bytea] = [20, 1700, 17]

/** Numbers of 64 bits and sums of them are read as numbers: none of ours is too large. Bytes are plain ones. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (format !== 'binary') {
    if (oid === int8 || oid === numeric) return Number
    if (oid === bytea) return bytesOf
  }
  return pg.types.getTypeParser(oid, format as 'text')
}

function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex.slice(2), 'hex'))
}
