/** Makes of a driver's error that of the store. */

import { type DriverErrorCode, isDriverError } from '@reveille/kit'
import { StoreError, type StoreErrorCode } from './port.ts'

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
