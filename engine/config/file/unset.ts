/** Makes the text that stands in for a reference which is not set, where a configuration is only looked at and never served. */

import { randomUUID } from 'node:crypto'

/** It cannot be guessed, so that it opens nothing where it ends up as a secret. */
const mark = `unset-${randomUUID()}`

/** References of one name get one text, as they would if the name were set. */
export function unsetText(name: string): string {
  return `${mark}-${name.replaceAll(/[^\w.-]/g, '-')}`
}

/** Whether a value is such a text, or holds one. */
export function holdsUnset(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(mark)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsUnset)
}
