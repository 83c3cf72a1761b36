/**
 * Connections to PostgreSQL: how they are opened, how statements are sent, and what a lost connection means.
 *
 * Statements of a transaction are sent without waiting for each other, and the server runs them in the order in which they were
 * sent. After one of them failed the rest of the transaction fails too, so no write has to be waited for before the next one.
 *
 * No error of this file holds a value of a statement or the password.
 */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { nearestName } from '@reveille/engine'
import type { Client, ClientConfig, QueryResult } from 'pg'
import { StoreError } from '../port.ts'
import { tables } from './migrations.ts'

/** Reads rows. `sql` is a fixed text: each distinct one is prepared once for each connection. */
export type Query = <Row = Record<string, unknown>>(
  sql: string,
  values?: readonly unknown[],
) => Promise<Row[]>

/** Statements that belong together. They name tables without their schema. */
export interface Transaction {
  readonly query: Query
  /** Sends a statement whose answer is not needed. If it fails, the transaction cannot be committed. */
  send(sql: string, values?: readonly unknown[]): void
}

/** One connection, which is opened when it is needed and again after it was lost. */
export interface Link {
  /** Runs one statement, in a transaction of its own. Concurrent calls share the connection. */
  readonly query: Query
  /**
   * Runs a transaction, one at a time. It is committed when `run` resolves, and rolled back when it rejects. A commit whose
   * answer was lost is looked up on a new connection.
   */
  transact<Result>(run: (tx: Transaction) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export interface Database {
  /** `purpose` is shown by the server beside the connection. */
  link(purpose: string, options?: LinkOptions): Link
  /** Connects, and hands out the connection, which the caller ends. For LISTEN. */
  connect(purpose: string): Promise<Client>
  /** Closes all links. */
  close(): Promise<void>
}

interface LinkOptions {
  /** Faults that a test asks for happen on this link. */
  readonly isFaulty?: boolean
  /** Called after each commit that has written something. */
  onCommit?(): void
  /**
   * Statements use indexes, whatever the statistics say: a plan that was made while a table was small is kept, and would read all of the
   * table once it is large.
   */
  readonly usesIndexes?: boolean
  /** How long the server may take for a statement, in milliseconds; 0 for a migration or a copy, which take as long as they take. Default: 30,000. */
  readonly statementMs?: number
}

/** What a test can make go wrong with the next commits. */
export interface Faults {
  next?: 'commit-fails' | 'answer-lost' | undefined
  isFull?: boolean
  /** See `usualQuietMs`. */
  readonly quietMs?: number
}

export interface DatabaseOptions {
  readonly location: string
  readonly faults?: Faults
}

/**
 * The timeout of opening a connection, and of looking for an unclear commit. After as long without an answer it is looked whether the
 * server is at work on it. Milliseconds.
 */
const usualQuietMs = 5_000
const usualStatementMs = 30_000
/** How long the server may take to close a connection. */
const goodbyeMs = 2_000
/** How much longer than the server a client waits for the end of a statement, before it cuts the connection. Milliseconds. */
const silenceMs = 5_000
/** The server ends a transaction whose node has sent nothing for this long, so that a paused node holds no locks. */
const idleInTransactionMs = 10_000
/** A connection on which nothing was sent for this long is probed by the operating system. Milliseconds. */
const keepAliveMs = 10_000
/** Two that write and two that read, one for membership and one to take over, one that notifies and one that listens, and one that looks after these. */
const mostConnections = 9
/** `pg_current_xact_id` and `pg_xact_status` came with it. */
const leastVersion = 13

/** A connection was not made, or was lost before anything can have happened. The same work may be tried on another connection. */
export class LostConnection extends Error {
  /** What an operator can do about it. */
  readonly fix: string | undefined

  constructor(
    message: string,
    { cause, fix }: { readonly cause?: unknown; readonly fix?: string | undefined } = {},
  ) {
    super(message, { cause })
    this.fix = fix
  }
}

/** What is known of the server at the other end of a connection. */
interface Session {
  /** The server's process, as long as it serves this connection alone. */
  readonly process: number | undefined
  /**
   * Differs for each start of a server, and after each crash. Numbers of transactions that a crash has undone are given again, so that
   * another transaction may have the number of ours.
   */
  readonly run: string
}

const startOfSession = `SELECT
  current_setting('transaction_read_only') = 'on' AS is_read_only, current_setting('server_version_num')::int / 10000 AS version,
  pg_backend_pid() AS process,
  concat(pg_postmaster_start_time(), ' ', (SELECT stats_reset FROM pg_stat_bgwriter)) AS run`

/** `isLocal`: until the end of the transaction, where a pooler gives the connection to others afterwards. */
const settings = (
  { statementMs = usualStatementMs, usesIndexes = false }: LinkOptions,
  isLocal: boolean,
) => `SELECT
  set_config('enable_seqscan', '${usesIndexes ? 'off' : 'on'}', ${isLocal}),
  set_config('idle_in_transaction_session_timeout', '${statementMs === 0 ? 0 : idleInTransactionMs}', ${isLocal}),
  set_config('statement_timeout', '${statementMs}', ${isLocal})`

/** Whether a process of the server is at work for us. One that waits for us is ended, for the locks that it may hold. */
const isAtWork = `SELECT CASE WHEN state LIKE 'idle%' AND state_change < clock_timestamp() - $2 * interval '1 ms'
  THEN NOT pg_terminate_backend(pid) ELSE true END AS is_at_work FROM pg_stat_activity WHERE pid = $1`

/** Ends a transaction whose COMMIT has not arrived. */
const endIdle = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE backend_xid = ($1::xid8)::xid AND state LIKE 'idle in transaction%'`

export async function createDatabase({ location, faults = {} }: DatabaseOptions): Promise<Database> {
  const { quietMs = usualQuietMs } = faults
  const configs = parseLocation(location)
  const PostgresClient = await loadClient()
  const links = new Set<Link>()
  const sessions = new WeakMap<Client, Session>()
  const runOf = (client: Client) => sessions.get(client)?.run

  /** Tries the hosts of the connection string, and takes the first one that can be written to. @throws LostConnection */
  async function connect(purpose: string, options: LinkOptions = {}): Promise<Client> {
    const { statementMs = usualStatementMs } = options
    const failures: LostConnection[] = []
    for (const config of configs) {
      const client = new PostgresClient({
        ...config,
        pipeline: true,
        application_name: `reveille ${purpose}`,
        connectionTimeoutMillis: quietMs,
        query_timeout: statementMs === 0 ? 0 : statementMs + silenceMs,
        keepAlive: true,
        keepAliveInitialDelayMillis: keepAliveMs,
        types: { getTypeParser },
      } as ClientConfig)
      // Without a listener an error would end the process. Whoever waits for a statement hears of it.
      client.on('error', () => undefined)
      try {
        await client.connect()
        const { rows } = await client.query(startOfSession)
        const [{ is_read_only: isReadOnly, version, process, run }] = rows
        if (version < leastVersion) throw tooOld(config, version)
        if (isReadOnly) throw readOnly(config)
        // Behind a pooler the number that the client was given is none of the server.
        const { processID } = client as Client & { readonly processID: number }
        const isPooled = process !== processID
        sessions.set(client, { run, process: isPooled ? undefined : process })
        if (!isPooled) await client.query(settings(options, false))
        return client
      } catch (error) {
        failures.push(error instanceof LostConnection ? error : obstacleOf(error, config))
      }
      client.end().catch(() => undefined)
    }
    const [first] = failures
    if (failures.length === 1 && first !== undefined) throw first
    throw new LostConnection(failures.map(({ message }) => message).join('; '), {
      cause: first,
      fix: first?.fix,
    })
  }

  /**
   * Cuts a connection on which an answer is due, if the server is not at work on it: a network that is silent has lost the question or the
   * answer. Where no new connection can be made nothing is known.
   */
  async function examine(client: Client): Promise<void> {
    const { process, run } = sessions.get(client) ?? {}
    if (process === undefined) return
    const probe = await connect('examines')
    try {
      const [row] = runOf(probe) === run ? (await probe.query(isAtWork, [process, quietMs / 2])).rows : []
      if (row?.is_at_work !== true) streamOf(client).destroy()
    } finally {
      void end(probe)
    }
  }

  /** Waits for an answer of a connection, and looks after it while none comes. */
  async function followed<Value>(client: Client, answer: Promise<Value>): Promise<Value> {
    let isExamining = false
    const timer = setInterval(() => {
      if (isExamining) return
      isExamining = true
      examine(client).then(
        () => {
          isExamining = false
        },
        () => {
          isExamining = false
        },
      )
    }, quietMs)
    timer.unref()
    try {
      return await answer
    } finally {
      clearInterval(timer)
    }
  }

  function createLink(purpose: string, options: LinkOptions = {}): Link {
    const { isFaulty = false, onCommit, statementMs } = options
    const broken = new WeakSet<Client>()
    let current: Promise<Client> | undefined
    let isClosed = false
    let last: Promise<unknown> = Promise.resolve()

    function connected(): Promise<Client> {
      if (isClosed) return Promise.reject(new StoreError('DRAINING', 'the store is closed'))
      current ??= open()
      return current
    }

    function open(): Promise<Client> {
      const opening = connect(purpose, options)
      const forget = () => {
        if (current === opening) current = undefined
      }
      opening.then((client) => {
        const lose = () => {
          broken.add(client)
          forget()
        }
        client.once('end', lose).once('error', lose)
      }, forget)
      return opening
    }

    /** Returns whether the connection, and not the statement, is at fault. */
    const isLost = (error: unknown, client: Client) =>
      broken.has(client) || isSilence(error) || isConnectionState(stateOf(error))

    async function queryOnce<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]> {
      const client = await connected()
      try {
        return (await followed(client, send(client, sql, values))).rows as Row[]
      } catch (error) {
        throw isLost(error, client) ? lost(error) : error
      }
    }

    async function transact<Result>(run: (tx: Transaction) => Promise<Result>): Promise<Result> {
      const client = await connected()
      const running = runTransaction(client, run)
      // A transaction that takes as long as it takes may well wait for this process.
      return statementMs === 0 ? running : followed(client, running)
    }

    async function runTransaction<Result>(
      client: Client,
      run: (tx: Transaction) => Promise<Result>,
    ): Promise<Result> {
      const isPooled = sessions.get(client)?.process === undefined
      const tx = begin(client, isPooled ? settings(options, true) : undefined)
      let result: Result
      try {
        result = await run(tx)
        if (tx.hasWritten() && isFaulty) fail(faults)
        await tx.ready()
      } catch (thrown) {
        await tx.rollBack()
        // What came after a statement that failed says only that it came after.
        const error = stateOf(thrown) === '25P02' ? tx.failure() : thrown
        throw isLost(error, client) ? lost(error) : error
      }
      try {
        await tx.commit()
        if (tx.hasWritten() && isFaulty && faults.next === 'answer-lost') {
          faults.next = undefined
          broken.add(client)
          streamOf(client).destroy()
          throw new Error('the answer was lost, as a test asked for')
        }
      } catch (error) {
        if (!isLost(error, client)) throw error
        current = undefined
        const was = tx.hasWritten() ? await wasCommitted(await tx.number(), client) : true
        if (was === false) throw lost(error)
        if (was === undefined) throw new UnknownCommit(error)
      }
      if (tx.hasWritten()) onCommit?.()
      return result
    }

    /** Returns whether a transaction was committed; undefined if that cannot be found out. */
    async function wasCommitted(number: string, before: Client): Promise<boolean | undefined> {
      for (const until = performance.now() + quietMs; performance.now() < until && !isClosed; ) {
        try {
          const client = await connected()
          const isSameRun = runOf(client) === runOf(before)
          const status = await statusOf(client, number)
          if (status === 'committed') return isSameRun ? true : undefined
          if (status === 'aborted') return false
          if (isSameRun) await client.query(endIdle, [number])
        } catch {
          current = undefined
        }
        await new Promise((resolve) => setTimeout(resolve, 50).unref())
      }
      return undefined
    }

    const link: Link = {
      query: <Row>(sql: string, values?: readonly unknown[]) => handled(queryOnce<Row>(sql, values)),
      transact(run) {
        const running = last.then(() => transact(run))
        last = running.catch(() => undefined)
        return running
      },
      async close() {
        isClosed = true
        links.delete(link)
        await last
        const client = await current?.catch(() => undefined)
        if (client !== undefined) await end(client)
      },
    }
    links.add(link)
    return link
  }

  return {
    link: createLink,
    connect,
    async close() {
      await Promise.all([...links].map((link) => link.close()))
    },
  }
}

/** Says goodbye, and hangs up if the server does not listen. */
export async function end(client: Client): Promise<void> {
  const timer = setTimeout(() => streamOf(client).destroy(), goodbyeMs)
  await client.end().catch(() => undefined)
  clearTimeout(timer)
}

/** A commit of which it is not known whether it happened. */
export class UnknownCommit extends StoreError {
  constructor(cause: unknown) {
    const reason = 'the connection to the database was lost in a commit, which may have happened'
    super('STORE_UNAVAILABLE', reason, { brief, cause })
  }
}

/** A number that the server has not given yet was given before a crash, which has undone that transaction. */
async function statusOf(client: Client, number: string): Promise<'committed' | 'aborted' | 'in progress'> {
  try {
    const { rows } = await client.query('SELECT pg_xact_status($1::xid8) AS status', [number])
    return rows[0].status
  } catch (error) {
    if (stateOf(error) === '22023') return 'aborted'
    throw error
  }
}

/** `settings` is a statement that comes before all others. */
function begin(client: Client, settings?: string) {
  let failure: unknown
  let number: Promise<string> | undefined
  const begun = client.query('BEGIN')
  begun.catch(note)
  if (settings !== undefined) client.query(settings).catch(note)

  function note(error: unknown): void {
    failure ??= error
  }

  function sendNow(sql: string, values?: readonly unknown[]): Promise<QueryResult> {
    if (number === undefined && isWriting(sql)) {
      number = client.query('SELECT pg_current_xact_id()::text AS number').then(({ rows }) => rows[0].number)
      number.catch(note)
    }
    const sent = send(client, sql, values)
    sent.catch(note)
    return sent
  }

  return {
    query: <Row>(sql: string, values?: readonly unknown[]) =>
      handled(sendNow(sql, values).then(({ rows }) => rows as Row[])),
    send: (sql: string, values?: readonly unknown[]) => void sendNow(sql, values),
    hasWritten: () => number !== undefined,
    failure: () => failure,
    /** Returns the number by which the transaction is found later. */
    number: () => number ?? Promise.reject(new Error('a transaction without a write has no number')),
    /** Resolves when the transaction may be committed: its number is known. */
    async ready() {
      await number
      if (failure !== undefined) throw failure
    },
    async commit() {
      const { command } = await client.query('COMMIT')
      // A transaction in which a statement failed is rolled back by its COMMIT.
      if (command !== 'COMMIT') throw failure ?? new Error('the transaction was rolled back')
    },
    async rollBack() {
      await client.query('ROLLBACK').catch(() => undefined)
    },
  }
}

/** Of several statements that fail together only the first one may have a caller that still waits. */
function handled<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined)
  return promise
}

/** A statement as it is prepared. */
interface Prepared {
  readonly name: string
  readonly text: string
}

const prepared = new Map<string, Prepared>()
const tableNames = new RegExp(String.raw`\b(FROM|JOIN|INTO|UPDATE|USING) (${tables.join('|')})\b(?!\()`, 'g')

/**
 * Puts the schema before the tables, so that nothing depends on the settings of a connection, which a pooler may share. A name stands for
 * one text on all nodes of all versions: a pooler that does not know of prepared statements may hand a connection on with those of another.
 */
function prepare(sql: string): Prepared {
  const text = sql.replace(tableNames, '$1 reveille.$2')
  const made = { name: `reveille_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`, text }
  prepared.set(sql, made)
  return made
}

function send(client: Client, sql: string, values: readonly unknown[] = []): Promise<QueryResult> {
  uncorkSoon(client)
  return client.query({ ...(prepared.get(sql) ?? prepare(sql)), values: values as unknown[] })
}

const corked = new WeakSet<Client>()

/** Statements that are sent in one turn leave as one packet. */
function uncorkSoon(client: Client): void {
  if (corked.has(client)) return
  corked.add(client)
  const stream = streamOf(client)
  stream.cork()
  process.nextTick(() => {
    corked.delete(client)
    stream.uncork()
  })
}

interface Stream {
  cork(): void
  uncork(): void
  destroy(): void
}

function streamOf(client: Client): Stream {
  return (client as unknown as { connection: { stream: Stream } }).connection.stream
}

function isWriting(sql: string): boolean {
  return !/^\s*SELECT\b/i.test(sql)
}

/** Numbers of 64 bits are read as numbers: none of ours is too large. */
function getTypeParser(oid: number, format: string) {
  if (oid === 20 && format !== 'binary') return Number
  return defaultParser(oid, format)
}

let defaultParser: (oid: number, format: string) => unknown = () => String

/** Loads the client when a store on PostgreSQL is opened, and not before. */
async function loadClient(): Promise<typeof Client> {
  const loaded = await import('pg')
  const pg = (loaded as unknown as { default?: typeof loaded }).default ?? loaded
  defaultParser = pg.types.getTypeParser as typeof defaultParser
  return pg.Client
}

/**
 * Makes the settings of a connection for each host of a connection string. Connections are encrypted and the server's certificate
 * is verified, except on this machine and where the string says `sslmode=disable`.
 * @throws StoreError `STORE_UNAVAILABLE`
 */
export function parseLocation(location: string): ClientConfig[] {
  const [, hosts = ''] = /^postgres(?:ql)?:\/\/(?:[^@/?#]*@)?([^/?#]*)/.exec(location) ?? []
  // What is left of a password must not be shown as a host or a parameter.
  const rest = location.slice(location.indexOf(hosts) + hosts.length)
  if (hosts.includes('@') || /[/#][^?]*@|[?&][^=&]*@/.test(rest))
    throw unreadable('Characters such as @, / and ? in a password have to be written as %40, %2F and %3F.')
  return hosts.split(',').map((host) => configOf(location, hosts, host))
}

function configOf(location: string, hosts: string, host: string): ClientConfig {
  const url = URL.parse(location.replace(hosts, () => host))
  if (url === null) throw unreadable('Write it as postgres://user:password@host:5432/database')
  const parameters = url.searchParams
  for (const [name, value] of parameters) {
    const allowed = knownParameters[name]
    if (allowed === undefined) {
      const meant = nearestName(name, Object.keys(knownParameters))
      throw unavailable(`the address of the database has the unknown parameter ${name}`, {
        fix:
          meant === undefined
            ? `It may have ${Object.keys(knownParameters).join(', ')}.`
            : `Did you mean ${meant}?`,
      })
    }
    if (allowed.length > 0 && !allowed.includes(value))
      throw unavailable(`the address of the database has ${name}=${value}`, {
        fix: `It may be ${allowed.join(' or ')}.`,
      })
  }
  const name = parameters.get('host') ?? decodeURIComponent(url.hostname).replace(/^\[|\]$/g, '')
  const isNear = name === '' || name.startsWith('/') || isLoopback(name)
  const root = parameters.get('sslrootcert')
  const mode = parameters.get('sslmode') ?? (isNear && root === null ? 'disable' : 'verify-full')
  return {
    host: name || '127.0.0.1',
    port: Number(url.port || 5432),
    user: decoded(url.username) || 'postgres',
    ...(url.password !== '' && { password: decoded(url.password) }),
    database: decoded(url.pathname.slice(1)) || 'postgres',
    ssl:
      mode === 'disable'
        ? false
        : { rejectUnauthorized: true, ...(root !== null && { ca: certificate(root) }) },
  }
}

/** The parameters that an address may have, with their values; none where any text is good. */
const knownParameters: Readonly<Record<string, readonly string[]>> = {
  sslmode: ['verify-full', 'disable'],
  sslrootcert: [],
  host: [],
  // Only a server that can be written to is of use.
  target_session_attrs: ['read-write', 'primary'],
}

function unreadable(fix: string): StoreError {
  return unavailable('the address of the database cannot be read', { fix })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw unreadable('A % that is meant as such has to be written as %25.')
  }
}

function certificate(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw unavailable(`the file of sslrootcert cannot be read: ${reasonOf(error)}`, {
      cause: error,
      fix: 'Name a file with the certificate of the authority in PEM.',
    })
  }
}

function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)
}

/** Makes of a connection string what may be shown: where the database is. */
export function shownLocation(location: string): string {
  try {
    const [first] = parseLocation(location)
    return `${first?.host}:${first?.port}/${first?.database}`
  } catch {
    return 'the configured database'
  }
}

/** Returns the SQLSTATE of an error that the server answered. */
export function stateOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'severity' in error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** The client has just cut a connection for its silence. */
function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

/** The server ends the connection, or has become one that cannot be written to. */
function isConnectionState(state: string | undefined): boolean {
  return (
    state !== undefined &&
    (state.startsWith('08') || state.startsWith('57P') || state === '25006' || state === '25P03')
  )
}

/** An error of our own code, such as a TypeError, says nothing about the connection. */
function isOurs(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  )
}

/** Returns whether the same transaction may succeed when it is run again: a deadlock, or a serialization failure. */
export function isRepeatable(error: unknown): boolean {
  const state = stateOf(error)
  return state === '40001' || state === '40P01'
}

/** Returns whether a call is at fault, and not the database: its values are refused. */
export function isCallAtFault(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === 'BAD_ENTRY'
  if (isOurs(error)) return true
  const state = stateOf(error)
  return state !== undefined && ['22', '23', '54'].includes(state.slice(0, 2))
}

/** Makes the error that a caller gets. */
export function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  if (error instanceof LostConnection) return unavailable(error.message, { cause: error, fix: error.fix })
  const state = stateOf(error)
  if (state === '53100') return new StoreError('STORE_FULL', "the database's disk is full", { cause: error })
  if (state === '57014') return unavailable('the database took too long for a statement', { cause: error })
  if (state === '42501')
    return unavailable('the database role lacks a privilege', { cause: error, fix: grants })
  // Prepared twice, or not at all.
  if (state === '42P05' || state === '26000')
    return unavailable('a pooler hands connections on without their prepared statements', {
      cause: error,
      fix: 'Use pgbouncer 1.21 or newer with max_prepared_statements above 0, its session mode, or name the database itself.',
    })
  if (isCallAtFault(error)) {
    const reason = state === '23505' ? 'an id or a key of it is taken' : (state ?? reasonOf(error))
    return new StoreError('BAD_ENTRY', `the store refuses this entry: ${reason}`, { cause: error })
  }
  return unavailable(`the database cannot be used: ${reasonOf(error)}`, { cause: error })
}

/** What may be shown to anyone. */
const brief = 'the database does not answer'

export const grants =
  'As the owner: GRANT USAGE ON SCHEMA reveille, and GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA reveille, to this role.'

export function unavailable(
  message: string,
  options?: { readonly cause?: unknown; readonly fix?: string | undefined },
): StoreError {
  return new StoreError('STORE_UNAVAILABLE', message, { brief, ...options })
}

function lost(cause: unknown): LostConnection {
  return new LostConnection(`the connection to the database was lost: ${reasonOf(cause)}`, { cause })
}

function serverAt({ host, port }: ClientConfig): string {
  return `the server at ${host}:${port}`
}

function tooOld(config: ClientConfig, version: number): LostConnection {
  return new LostConnection(
    `${serverAt(config)} is PostgreSQL ${version}, and the store needs ${leastVersion} or newer`,
    { fix: 'Upgrade the server, or name another one.' },
  )
}

function readOnly(config: ClientConfig): LostConnection {
  return new LostConnection(
    `${serverAt(config)} can only be read from: it is a standby, or was made read-only`,
    {
      fix: 'Name the primary, or all hosts, of which the first that can be written to is taken: postgres://user@host1,host2/database',
    },
  )
}

/** What can be said of a connection that was not made, and what an operator can do, by SQLSTATE and by the codes of Node.js. */
const obstacles: Readonly<Record<string, (at: ClientConfig) => readonly [message: string, fix: string]>> = {
  '28P01': (at) => [
    `${serverAt(at)} refuses the password of the role ${at.user}`,
    at.password === undefined
      ? 'Write it into the address: postgres://user:password@host/database'
      : 'Correct it in the address. Characters such as @, / and % have to be written as %40, %2F and %25 there.',
  ],
  '28000': (at) => [
    `${serverAt(at)} does not let the role ${at.user} in`,
    at.ssl === false
      ? 'The role has to exist, and pg_hba.conf has to let it in. Where it does so only over TLS, add sslmode=verify-full to the address.'
      : 'The role has to exist, and pg_hba.conf has to let it in from this machine.',
  ],
  '3D000': (at) => [
    `${serverAt(at)} has no database ${at.database}`,
    `Create it: CREATE DATABASE ${at.database} OWNER ${at.user}; or correct its name in the address.`,
  ],
  '42501': (at) => [
    `${serverAt(at)} does not let the role ${at.user} connect to the database ${at.database}`,
    `Allow it: GRANT CONNECT ON DATABASE ${at.database} TO ${at.user};`,
  ],
  '53300': (at) => [
    `${serverAt(at)} has no connection left for the role ${at.user}`,
    `Raise max_connections there, or the limit of the role or the database. A node needs ${mostConnections}.`,
  ],
  '57P03': (at) => [`${serverAt(at)} is starting, stopping or recovering`, 'Try again in a moment.'],
  ENOTFOUND: ({ host }) => [
    `the host ${host} is unknown`,
    'Correct its name in the address, or make it known to this machine.',
  ],
  ECONNREFUSED: ({ host, port }) => [
    `nothing takes connections at ${host}:${port}`,
    'Start the database, or correct host and port in the address.',
  ],
  ETIMEDOUT: (at) => [
    `${serverAt(at)} does not answer`,
    'Correct host and port in the address, or open the way to it: a firewall may be in between.',
  ],
  unencrypted: (at) => [
    `${serverAt(at)} does not encrypt connections`,
    'Switch TLS on there (ssl = on), or add sslmode=disable to the address if the network is encrypted.',
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: (at) => [
    `the certificate of ${serverAt(at)} does not name ${at.host}`,
    'Write the host into the address as the certificate names it.',
  ],
  CERT_HAS_EXPIRED: (at) => [`the certificate of ${serverAt(at)} has expired`, 'Renew it on the server.'],
  untrusted: (at) => [
    `the certificate of ${serverAt(at)} is not signed by an authority that is trusted here`,
    'Name the file of the authority in the address: sslrootcert=/path/ca.pem',
  ],
}

/** Codes and words that mean the same as one of `obstacles`. */
const alike: Readonly<Record<string, keyof typeof obstacles>> = {
  EAI_AGAIN: 'ENOTFOUND',
  ENOENT: 'ECONNREFUSED',
  EHOSTUNREACH: 'ETIMEDOUT',
  ENETUNREACH: 'ETIMEDOUT',
  'timeout expired': 'ETIMEDOUT',
  'The server does not support SSL connections': 'unencrypted',
  'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string': '28P01',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
}

/** Says why a connection was not made. Nothing of it is the password, and nothing is what a statement was given. */
function obstacleOf(error: unknown, at: ClientConfig): LostConnection {
  const [first] = error instanceof AggregateError ? error.errors : [error]
  const { code = '', message = '' } = first as NodeJS.ErrnoException
  const said = obstacles[alike[code] ?? alike[message] ?? code]?.(at)
  if (said === undefined)
    return new LostConnection(`${serverAt(at)} cannot be used: ${reasonOf(error)}`, { cause: error })
  return new LostConnection(said[0], { cause: error, fix: said[1] })
}

/** @throws an error as the server sends it, if a test asked for one */
function fail(faults: Faults): void {
  const isFailing = faults.next === 'commit-fails'
  if (!isFailing && !faults.isFull) return
  if (isFailing) faults.next = undefined
  throw Object.assign(new Error('as a test asked for'), {
    severity: 'ERROR',
    code: isFailing ? '58030' : '53100',
  })
}

/** Only the reasons of the operating system and of the client are shown: what a server says may quote values. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason'
  const [first] = error instanceof AggregateError ? error.errors : [error]
  const state = stateOf(error)
  return state === undefined ? (first instanceof Error ? first.message : error.message) : `SQLSTATE ${state}`
}
