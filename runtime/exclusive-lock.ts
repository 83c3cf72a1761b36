/** Takes a lock that one process holds at a time, and that the kernel releases when the process dies. */

import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

export interface ExclusiveLock {
  close(): void
}

/**
 * Creates a file for its owner alone. A file that exists is not opened, because closing it again would release the locks that this
 * process holds on it.
 */
export function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/**
 * takeLock begins an exclusive transaction on a database of its own, which the kernel releases when the process dies, so that no stale
 * lock is left. The lock is held until it is closed. Returns undefined while another process holds it. The file has to exist; see
 * `createPrivately`.
 */
export function takeLock(file: string): ExclusiveLock | undefined {
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

/** SQLITE_BUSY, in the lower byte of the code: https://www.sqlite.org/rescode.html */
function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  return typeof code === 'number' && (code & 0xff) === 5
}
