/** Owns the data folder: its files, their modes, and the lock that keeps a second process out. */

import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../port.ts'
import { resultOf, SQLITE_BUSY } from './failure.ts'

export function databaseFile(folder: string): string {
  return join(folder, 'reveille.db')
}

/** Creates what is missing: the folder for its owner alone (0700), the files likewise (0600). */
export function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // SQLite gives its -wal and -shm files the mode of the database, so these two decide for all.
  for (const file of [databaseFile(folder), lockFile(folder)]) createPrivately(file)
}

/** Never opens a file that exists: closing it again would drop the locks that this process holds on it. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/**
 * An exclusive transaction on a database of its own: the kernel lets go of it when the process dies, however
 * it dies, and no stale lock file is left to explain. Held until the answer is closed.
 * @throws StoreError `LOCKED`
 */
export function lockFolder(folder: string): DatabaseSync {
  const lock = new DatabaseSync(lockFile(folder), { timeout: 0 })
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (resultOf(error) !== SQLITE_BUSY) throw error
    throw new StoreError('LOCKED', `another process uses the data folder ${folder}: stop it first`, {
      cause: error,
    })
  }
}

function lockFile(folder: string): string {
  return join(folder, 'lock.db')
}
