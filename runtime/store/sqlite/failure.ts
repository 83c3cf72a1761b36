/** Maps SQLite's result codes to the store's errors. */

import { StoreError } from '../port.ts'

export const SQLITE_BUSY = 5
const SQLITE_IOERR = 10
const SQLITE_FULL = 13

/** Busy, locked, out of memory, read-only, interrupted, I/O, corrupt, full, cannot open, protocol, no database. */
const diskResults = new Set([SQLITE_BUSY, 6, 7, 8, 9, SQLITE_IOERR, 11, SQLITE_FULL, 14, 15, 26])

/** Returns the primary result code, or `undefined` for an error that is not SQLite's. */
export function resultOf(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  return typeof code === 'number' ? code & 0xff : undefined
}

/** Returns whether the disk failed to read or to write: what is in the cache is then not what is on the disk. */
export function isIoError(error: unknown): boolean {
  return resultOf(error instanceof StoreError ? error.cause : error) === SQLITE_IOERR
}

/** Returns whether the disk or the file is at fault, so that every other entry of the batch would fail too. */
export function isDiskFailure(error: unknown): boolean {
  const result = resultOf(error)
  return result !== undefined && diskResults.has(result)
}

/** Makes the error that a caller gets. Its message names SQLite's reason and never a value. */
export function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const reason = reasonOf(error)
  if (resultOf(error) === SQLITE_FULL)
    return new StoreError('STORE_FULL', `the store's disk is full: ${reason}`, { cause: error })
  if (isDiskFailure(error))
    return new StoreError('STORE_UNAVAILABLE', `the store cannot write: ${reason}`, { cause: error })
  return new StoreError('BAD_ENTRY', `the store refuses this entry: ${reason}`, { cause: error })
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
