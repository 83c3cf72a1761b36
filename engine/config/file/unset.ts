/** Stands in for the value of a reference that is not set, where a configuration is only looked at and never served. */

import { randomUUID } from 'node:crypto'

/** Not to be guessed: where it ends up as a secret, nobody has it. */
const mark = `unset-${randomUUID()}`

/** Every reference of one name stands for one text, as it would if it were set. */
export function unsetText(name: string): string {
  return `${mark}-${name.replaceAll(/[^\w.-]/g, '-')}`
}

/** Whether a value is such a text, or holds one. */
export function holdsUnset(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(mark)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsUnset)
}
