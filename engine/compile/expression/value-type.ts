/** Owns how the type of a value is told to an author; never the value. */

import { isCallable } from './library.ts'

export function typeOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (isCallable(value)) return 'a function'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'number') return 'a number'
  return typeof value === 'boolean' ? 'true or false' : 'text'
}
