/** Owns the data folder: its files, their modes, and the lock that keeps a second process out. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createPrivately, type ExclusiveLock, takeLock } from '../../exclusive-lock.ts'
import { StoreError } from '../port.ts'

export function databaseFile(folder: string): string {
  return join(folder, 'reveille.db')
}

/** Creates what is missing: the folder for its owner alone (0700), the files likewise (0600). */
export function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // SQLite gives its -wal and -shm files the mode of the database, so these two decide for all.
  for (const file of [databaseFile(folder), lockFile(folder)]) createPrivately(file)
}

/** Held until the answer is closed, or the process is dead. @throws StoreError `LOCKED` */
export function lockFolder(folder: string): ExclusiveLock {
  const lock = takeLock(lockFile(folder))
  if (lock !== undefined) return lock
  throw new StoreError('LOCKED', `another process uses the data folder ${folder}: stop it first`)
}

function lockFile(folder: string): string {
  return join(folder, 'lock.db')
}
