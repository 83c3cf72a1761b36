/** Makes of a driver's error that of the store, and of that what can be sent to another thread. */

import { type DriverErrorCode, isDriverError } from '@reveille/kit'
import { StoreError, type StoreErrorCode } from './port.ts'
import type { PlainError } from './protocol.ts'

const codes: Readonly<Record<DriverErrorCode, StoreErrorCode>> = {
  UNAVAILABLE: 'STORE_UNAVAILABLE',
  FULL: 'STORE_FULL',
  REFUSED: 'BAD_ENTRY',
}

/** Returns any other error as it is. */
export function storeErrorOf(error: unknown): unknown {
  if (!isDriverError(error)) return error
  const { code, message, brief, fix } = error
  return new StoreError(codes[code], message, { cause: error, ...(brief !== undefined && { brief }), fix })
}

/** True if the database is at fault, so that every other action would fail too. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'STORE_FULL' || error.code === 'STORE_UNAVAILABLE')
}

/** An error loses its code on its way to another thread, so its fields are sent. */
export function plainError(failed: unknown): PlainError {
  const error = storeErrorOf(failed)
  if (error instanceof StoreError) return { code: error.code, message: error.message, brief: error.brief }
  const reason = error instanceof Error ? error.message : String(error)
  return { code: 'BAD_ENTRY', message: `the store refuses this entry: ${reason}`, brief: undefined }
}
