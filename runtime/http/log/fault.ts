/** Describes an error for the log: its kind and its place, and none of the values in it. */

import { StoreError } from '../../store/port.ts'

export interface Fault {
  readonly type: string
  readonly code?: string
  readonly message?: string
  readonly stack: string
  readonly cause?: Fault
}

const maxCauses = 3

/**
 * Messages of parsers and expressions quote what they were given, and properties of their errors may hold it, so an error is
 * described by its type, code and stack frames. Only the store promises messages without values.
 */
export function describeFault(error: unknown, isOfStore = false, depth = 0): Fault {
  if (!(error instanceof Error)) return { type: typeof error, stack: '' }
  const hasNoValues = isOfStore || error instanceof StoreError
  return {
    type: error.name,
    code: 'code' in error && typeof error.code === 'string' ? error.code : undefined,
    message: hasNoValues ? error.message : undefined,
    stack: framesOf(error),
    cause:
      error.cause === undefined || depth === maxCauses
        ? undefined
        : describeFault(error.cause, hasNoValues, depth + 1),
  }
}

function framesOf(error: Error): string {
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  return [error.name, ...frames].join('\n')
}
