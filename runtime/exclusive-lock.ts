/** Owns a lock that one holder has at a time, over all processes, and that no dead one keeps. */

import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

export interface ExclusiveLock {
  close(): void
}

/** For its owner alone. Never opens a file that exists: closing it again would drop the locks that this process holds on it. */
export function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/**
 * An exclusive transaction on a database of its own: the kernel lets go of it when the process dies, however it dies,
 * and no stale file is left to explain. Held until the answer is closed. Undefined while somebody else holds it; the
 * file is there, made by `createPrivately`.
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
