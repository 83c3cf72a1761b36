/** Prepares the data folder: its files, their modes, and the lock that keeps a second process out. */

import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createPrivately, type ExclusiveLock, takeLock } from '../../exclusive-lock.ts'
import { StoreError } from '../port.ts'

export function databaseFile(folder: string): string {
  return join(folder, 'reveille.db')
}

/** The write-ahead log, which SQLite keeps beside the database. The newest commits are only there. */
function logFile(folder: string): string {
  return `${databaseFile(folder)}-wal`
}

/**
 * Creates what is missing: the folder for its owner alone (0700), the files likewise (0600). `beside`: what may be there without a
 * database, because a gateway on a server has written it.
 * @throws StoreError `STORE_MISSING`
 */
export function prepareFolder(folder: string, beside?: 'generations'): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const missing = missingStore(folder, beside)
  if (missing !== undefined) throw missing
  createFiles(folder)
}

/** Creates the database and its lock, where they are missing, for their owner alone. */
export function createFiles(folder: string): void {
  // SQLite gives its -wal and -shm files the mode of the database, so these two decide for all.
  for (const file of [databaseFile(folder), lockFile(folder)]) createPrivately(file)
}

/** Locks the folder until the lock is closed or the process is dead. @throws StoreError `LOCKED` */
export function lockFolder(folder: string): ExclusiveLock {
  const lock = takeLock(lockFile(folder))
  if (lock !== undefined) return lock
  throw new StoreError('LOCKED', `another process uses the data folder ${folder}: stop it first`)
}

/** Locks the data folder of a gateway whose records are on a server; it is created if it is missing. @throws StoreError `LOCKED` */
export function lockDataFolder(folder: string): ExclusiveLock {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  createPrivately(lockFile(folder))
  return lockFolder(folder)
}

function lockFile(folder: string): string {
  return join(folder, 'lock.db')
}

/**
 * Returns the error for a folder in which an earlier store lost its database: the database is missing or empty, beside
 * files that only a gateway in use has written. SQLite would create a new database there and delete the foreign log.
 */
export function missingStore(folder: string, beside?: 'generations'): StoreError | undefined {
  const database = databaseFile(folder)
  const size = statOf(database)?.size
  if (size !== undefined && size > 0) return undefined
  const left = [
    ...(beside === undefined && namesIn(join(folder, 'generations')).length > 0 ? ['generations'] : []),
    ...((statOf(logFile(folder))?.size ?? 0) > 0 ? ['reveille.db-wal'] : []),
  ]
  if (left.length === 0) return undefined
  return new StoreError(
    'STORE_MISSING',
    `${database} is ${size === undefined ? 'missing' : 'empty'}, but ${left.join(' and ')} beside it tell${left.length > 1 ? '' : 's'} of an earlier store. ` +
      'Put the database back, for instance a copy that `reveille store backup` made. ' +
      `If an empty store is meant, move ${left.join(' and ')} out of ${folder}`,
    { brief: 'the database is missing' },
  )
}

/**
 * Checks that the open files are still those at their paths. A deleted or moved file can still be written to, and what is
 * in it is lost. A database that was replaced while in use is not opened: what is in memory is about the old one.
 */
export function createOpenFiles(folder: string) {
  const [database, log] = [databaseFile(folder), logFile(folder)]
  let openDatabase: string | undefined
  let openLog: string | undefined

  /** @throws StoreError `STORE_UNAVAILABLE` if the database is gone or was replaced */
  function checkDatabase(): void {
    const now = identityOf(database)
    if (now === undefined) throw gone(`the database ${database} is gone`)
    if (openDatabase !== undefined && now !== openDatabase)
      throw gone(`the database ${database} was replaced by another file`)
  }

  /** Costs a few microseconds. @throws StoreError `STORE_UNAVAILABLE` if the database or its log is gone or was replaced */
  function check(): void {
    checkDatabase()
    if (identityOf(log) !== openLog) throw gone(`${log} is gone or was replaced`)
  }

  function gone(what: string): StoreError {
    return new StoreError(
      'STORE_UNAVAILABLE',
      `${what} while the gateway runs, so what it accepted could not be found again. Put the data folder ${folder} back as it was, or restart the gateway on what is there`,
      { brief: 'its data folder is gone or was replaced' },
    )
  }

  return {
    /** The writer calls it after it opened the database: from now on the log is the one in place. @throws StoreError as `check` */
    opened() {
      openDatabase ??= identityOf(database)
      openLog = identityOf(log)
      check()
    },
    /** The writer has put another file in place of the database. */
    replaced() {
      openDatabase = undefined
    },
    checkDatabase,
    check,
  }
}

export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Puts the names in a folder on the disk. Windows cannot open folders. */
export function syncFolder(folder: string): void {
  if (process.platform !== 'win32') syncFile(folder)
}

function identityOf(file: string): string | undefined {
  const found = statOf(file)
  return found && `${found.dev}:${found.ino}`
}

/** Returns undefined also if the file cannot be examined: a restart could not use it either. */
function statOf(file: string) {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Returns an empty list if there is no such folder. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
