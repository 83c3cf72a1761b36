/** Copies a store that another process may be using. The copy appears whole or not at all. */

import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../port.ts'
import { reasonOf } from './failure.ts'
import { databaseFile, syncFile, syncFolder } from './folder.ts'

export interface BackupOptions {
  /** The data folder. */
  readonly location: string
  /** The copy. The file must not exist. */
  readonly file: string
}

/**
 * Copies one moment of the store into one file, mode 0600, which is `reveille.db` of a data folder to be.
 * Reads only; the gateway goes on meanwhile.
 * @throws StoreError `STORE_UNAVAILABLE` when there is no store, the target exists or cannot be written
 */
export async function backupSqliteStore({ location, file }: BackupOptions): Promise<void> {
  const source = databaseFile(location)
  if (!existsSync(source)) throw unavailable(`there is no store in ${location}`)
  if (existsSync(file)) throw unavailable(`${file} exists already: name a file that does not`)
  const draft = `${file}.${process.pid}.part`
  try {
    // SQLite accepts an empty file as a target, so the copy has its final mode from the beginning.
    closeSync(openSync(draft, 'wx', 0o600))
    copy(source, draft)
    syncFile(draft)
    publish(draft, file)
    syncFolder(dirname(resolve(file)))
  } catch (error) {
    rmSync(draft, { force: true })
    throw unavailable(`the backup failed: ${reasonOf(error)}`, error)
  }
}

function copy(source: string, target: string): void {
  const db = new DatabaseSync(source, { readOnly: true, timeout: 5_000 })
  try {
    db.prepare('VACUUM INTO ?').run(target)
  } finally {
    db.close()
  }
}

/** A link, unlike a rename, never replaces a file that was created meanwhile. Not every file system has links. */
function publish(draft: string, file: string): void {
  try {
    linkSync(draft, file)
    rmSync(draft)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw error
    renameSync(draft, file)
  }
}

function unavailable(message: string, cause?: unknown): StoreError {
  return new StoreError('STORE_UNAVAILABLE', message, { cause })
}
