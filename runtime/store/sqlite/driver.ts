/**
 * The driver of the embedded database: one connection, on which everything is written, and what is done when its disk fails.
 *
 * When the disk is full or the files are gone, nothing of a transaction has happened. After an I/O error it is open whether the
 * transaction is on the disk, and what the cache shows proves nothing: it waits, and nothing is written, until `rescue` has put the store
 * into a new file, whose commit number says whether it was committed. See `rescue.ts`.
 */

import { existsSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Driver, Statements, Transaction } from '@reveille/kit'
import { noNode } from '../context.ts'
import { type Outage, StoreError } from '../port.ts'
import { isIoError, reasonOf, storeErrorOf } from './failure.ts'
import { createOpenFiles, databaseFile } from './folder.ts'
import { finishRescue, isRescued, leaveMark, markIn, readCommits, removeMark, rescueStore } from './rescue.ts'
import { createStatements, dialect } from './statements.ts'

/** Milliseconds that a statement waits for a lock of another connection. */
const busyMs = 5_000
/** A checkpoint runs when as many pages of the log are not in the database yet: 16 MiB. */
const maxLoggedPages = 4_000
/** Before SQLite 3.51 counting them is a whole checkpoint, so it is done with every so many commits. */
const maxCommits = 200
const countsLog = !/^3\.(?:4\d|50)\./.test(process.versions['sqlite'] ?? '')
/** Number of free pages overwritten at one time: 16 MiB. */
const maxFreePages = 4_096
const pageBytes = 4_096

type Connection = ReturnType<typeof openConnection>

/** A transaction that may be on the disk. */
interface Unclear {
  readonly error: unknown
  readonly settle: (isCommitted: boolean) => void
}

export interface DiskHealth {
  readonly reason?: string
  readonly brief?: string
  readonly outage?: Outage
}

export type EmbeddedDriver = ReturnType<typeof createEmbeddedDriver>

/** State that the functions of a driver share. */
interface State {
  readonly folder: string
  readonly now: () => number
  /** Called when the disk has failed. */
  readonly onFailure: () => void
  /** Commits on a connection by `run`. Tests have it fail. */
  readonly commit: (run: () => void, db: DatabaseSync) => void
  readonly files: ReturnType<typeof createOpenFiles>
  current: Connection | undefined
  failure: StoreError | undefined
  /** Since an I/O error, until the store is in a new file and the issue about it is on disk. */
  outage: Outage | undefined
  unclear: Unclear | undefined
  /** The number of the last commit that was acknowledged. */
  committed: number
  /** Something was erased, and the log may still hold it. */
  isLogToEmpty: boolean
}

export type EmbeddedDriverOptions = Pick<State, 'now' | 'onFailure'> & Partial<Pick<State, 'commit'>>

export function createEmbeddedDriver(folder: string, options: EmbeddedDriverOptions) {
  const { now } = options
  const files = createOpenFiles(folder)
  const current = open(folder, files)
  const state: State = {
    commit: (run) => run(),
    ...options,
    folder,
    files,
    current,
    failure: undefined,
    outage: markIn(folder),
    unclear: undefined,
    committed: current.commitNumber(),
    isLogToEmpty: false,
  }

  return {
    dialect,
    isShared: false,
    transaction: <Result>(
      work: (tx: Transaction) => Promise<Result>,
      { isErasing = false }: { readonly isErasing?: boolean } = {},
    ) => transaction(state, work, isErasing),
    read: async <Result>(work: (statements: Statements) => Promise<Result>) =>
      work(connectionOf(state).statements),
    clock: async () => now(),
    notify: async () => undefined,
    listen: () => undefined,
    describe: async () => undefined,

    health(): DiskHealth {
      const { failure, outage } = state
      return {
        ...(failure !== undefined && { reason: failure.message }),
        ...(failure?.brief !== undefined && { brief: failure.brief }),
        ...(outage !== undefined && { outage }),
      }
    },

    /** @throws StoreError if the open files are no longer those at their paths */
    checkFiles: () => files.check(),
    /** Puts the store into a new file and goes on there. Does nothing unless the disk has failed. */
    rescue: () => rescue(state),

    /** The issue about an outage is on the disk, so its mark is of no more use. */
    endOutage() {
      if (state.outage?.until === undefined) return
      removeMark(folder)
      state.outage = undefined
    },

    /** Gives up what may be on the disk, because the store is closed before that is known. */
    giveUp() {
      state.unclear?.settle(false)
      state.unclear = undefined
    },

    /** Closes the database, and leaves no log beside it unless the disk fails. */
    close: async () => close(state),
  } satisfies Driver & Record<string, unknown>
}

function open(folder: string, files: State['files']): Connection {
  const connection = openConnection(folder)
  try {
    files.opened()
    return connection
  } catch (error) {
    connection.abandon()
    throw error
  }
}

function connectionOf({ current, failure }: State): Connection {
  if (current === undefined) throw failure ?? new StoreError('STORE_UNAVAILABLE', 'the store is not open')
  return current
}

/** Nothing is written any more, and nothing is acknowledged, until `rescue` has succeeded. */
function beginOutage(state: State, error: unknown): void {
  const { outage, now, folder, committed } = state
  const since = outage?.until === undefined ? (outage?.since ?? now()) : now()
  state.outage = { since, reason: reasonOf(error) }
  leaveMark(folder, { ...state.outage, commits: committed })
  state.current?.abandon()
  state.current = undefined
  state.failure = new StoreError(
    'STORE_UNAVAILABLE',
    `the disk lost writes (${state.outage.reason}), and the store is being moved to a new file`,
    { brief: 'its disk lost writes' },
  )
  state.onFailure()
}

/** Waits until it is known whether a transaction is on the disk. */
function untilClear(state: State, error: unknown): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  state.unclear = { error, settle: resolve }
  beginOutage(state, error)
  return promise
}

async function transaction<Result>(
  state: State,
  work: (tx: Transaction) => Promise<Result>,
  isErasing: boolean,
): Promise<Result> {
  const to = connectionOf(state)
  let made: { readonly result: Result } | undefined
  try {
    // An entry is never acknowledged if it was written to a file that no process would find again.
    state.files.check()
    to.begin()
    if (isErasing) to.secureDelete('ON')
    const result = await work(to.statements)
    if (isErasing) to.wipeFreePages()
    to.countCommit()
    made = { result }
    state.commit(to.commit, to.db)
    state.committed += 1
  } catch (error) {
    if (isIoError(error)) {
      if ((await untilClear(state, error)) && made !== undefined) return made.result
      throw storeErrorOf(error)
    }
    to.rollback()
    throw storeErrorOf(error)
  } finally {
    if (isErasing) to.secureDelete('FAST')
  }
  if (isErasing) state.isLogToEmpty = true
  checkpoint(state, to)
  return made.result
}

/** Copies the log into the database where it is long or holds what was erased. One that fails takes nothing back. */
function checkpoint(state: State, to: Connection): void {
  try {
    if (state.isLogToEmpty) state.isLogToEmpty = !to.emptyLog()
    else to.checkpoint()
  } catch (error) {
    if (isIoError(error)) beginOutage(state, error)
  }
}

function rescue(state: State): void {
  const { folder, files, committed, outage, now } = state
  if (state.current !== undefined || outage === undefined || outage.until !== undefined) return
  let current: Connection
  try {
    if (!isRescued(folder)) files.checkDatabase()
    rescueStore(folder, committed)
    files.replaced()
    finishRescue(folder)
    current = open(folder, files)
  } catch (error) {
    state.failure = storeErrorOf(error)
    return
  }
  state.current = current
  state.outage = { ...outage, until: now() }
  leaveMark(folder, { ...state.outage, commits: committed })
  state.failure = undefined
  state.committed = current.commitNumber()
  state.unclear?.settle(state.committed > committed)
  state.unclear = undefined
}

function close(state: State): void {
  const { current } = state
  if (current === undefined) return
  try {
    current.emptyLog()
    current.close()
  } catch (error) {
    if (isIoError(error)) beginOutage(state, error)
    else current.abandon()
  } finally {
    state.current = undefined
  }
}

function openConnection(folder: string) {
  const file = databaseFile(folder)
  // SQLite would create a new file, and a store that has lost everything would seem to work.
  if (!existsSync(file)) throw new StoreError('STORE_UNAVAILABLE', `the database ${file} is gone`)
  const anchor = openAnchor(file)
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { timeout: busyMs })
    // FULL: a commit is on the disk before it is answered. FAST: a row that is written again leaves no copy in its page, so that
    // forgetting finds all of it; this costs no further I/O. Checkpoints are run by the driver, because SQLite says nothing of one of
    // its own that failed. A long read lets the log grow, and it shrinks to 64 MiB afterwards.
    db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864',
    )
    db.exec('CREATE TABLE IF NOT EXISTS filler (bytes BLOB) STRICT')
    anchor.attach()
    return prepareConnection(db, anchor)
  } catch (error) {
    db?.close()
    anchor.close()
    throw error
  }
}

/**
 * The last connection that is closed checkpoints the log, unless it only reads. After the disk has failed nothing may be checkpointed,
 * so a second connection that only reads stays open for as long as the first.
 */
function openAnchor(file: string) {
  const db = new DatabaseSync(file, { readOnly: true, timeout: busyMs })
  const attach = () => void db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get()
  try {
    // A log that is there is attached at once, a new one once it is there.
    attach()
  } catch (error) {
    db.close()
    throw error
  }
  return { attach, close: () => db.close() }
}

/** The commit number is a row beside the counts, so that it costs no page of its own. There is none before the first migration. */
const countCommit = `INSERT INTO counts (node, name, value) VALUES ('${noNode}', 'commits', 1)
  ON CONFLICT (node, name) DO UPDATE SET value = value + 1`

function hasCounts(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'counts'").get() !== undefined
}

function prepareConnection(db: DatabaseSync, anchor: ReturnType<typeof openAnchor>) {
  const statements = createStatements(db)
  const firstRow = (sql: string) => db.prepare(sql).get() as Record<string, number>
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  let count: StatementSync | undefined
  const countLog = db.prepare('PRAGMA wal_checkpoint(NOOP)')
  const passive = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  let commitsSinceCheckpoint = 0

  return {
    db,
    statements,
    begin() {
      begin.run()
      statements.begun(true)
    },
    commit() {
      commit.run()
      statements.begun(false)
    },
    /** Undoes everything since `begin`, if SQLite has not done so by itself. */
    rollback() {
      statements.begun(false)
      if (db.isTransaction) db.exec('ROLLBACK')
    },
    /** Counts the commit, as part of every transaction, so that an unknown outcome is settled by reading the number. */
    countCommit() {
      count ??= hasCounts(db) ? db.prepare(countCommit) : undefined
      count?.run()
    },
    commitNumber: () => (hasCounts(db) ? (firstRow(readCommits)['commits'] ?? 0) : 0),
    /** Else SQLite would leave long texts in the pages that it frees. */
    secureDelete(mode: 'ON' | 'FAST') {
      if (db.isOpen) db.exec(`PRAGMA secure_delete = ${mode}`)
    },
    /** Overwrites the pages that earlier commits freed: each change of a run with a long text leaves an older copy in some. */
    wipeFreePages() {
      const pages = firstRow('PRAGMA freelist_count')['freelist_count'] ?? 0
      if (pages === 0 || pages > maxFreePages) return
      db.prepare('INSERT INTO filler VALUES (zeroblob(?))').run(pages * pageBytes)
      db.exec('DELETE FROM filler')
    },
    /** Copies the log into the database when it is long. It costs two fsyncs, and a microsecond while the log is short. */
    checkpoint() {
      commitsSinceCheckpoint += 1
      if (!countsLog && commitsSinceCheckpoint < maxCommits) return
      const { log = 0, checkpointed = 0 } = countLog.get() as Record<string, number>
      if (log - checkpointed >= maxLoggedPages) passive.get()
      commitsSinceCheckpoint = 0
    },
    /** Copies the whole log into the database and empties it. Returns false if a reader was in the way. */
    emptyLog(): boolean {
      db.exec('PRAGMA busy_timeout = 0')
      try {
        return firstRow('PRAGMA wal_checkpoint(TRUNCATE)')['busy'] === 0
      } finally {
        db.exec(`PRAGMA busy_timeout = ${busyMs}`)
      }
    },
    /** Closes the connection after the log was emptied; SQLite deletes it. */
    close() {
      anchor.close()
      db.close()
    },
    /** Closes the connection and writes nothing. */
    abandon() {
      db.close()
      anchor.close()
    },
  }
}
