/** Makes the string that replaces an unset reference if a configuration is only checked and never served. */

import { randomUUID } from 'node:crypto'

/** The string cannot be guessed, so that it opens nothing if it is used as a secret. */
const mark = `unset-${randomUUID()}`

/** References with the same name get the same string, as they would if the name were set. */
export function unsetText(name: string): string {
  return `${mark}-${name.replaceAll(/[^\w.-]/g, '-')}`
}

/** Whether a value is such a string, or contains one. */
export function holdsUnset(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(mark)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsUnset)
}
