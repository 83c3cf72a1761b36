/** Reads fields of Gmail's answers. A field that is not what it should be makes the whole answer malformed. */

import { asRecord, type Facts, type PluginError } from '@reveille/kit'
import { gmailService, malformed } from './failure.ts'

export function failure(what: string): PluginError {
  return malformed(gmailService, what)
}

/** Returns a string that is not empty. */
export function text(fields: Facts, key: string): string {
  const value = fields[key]
  if (typeof value === 'string' && value !== '') return value
  throw failure(`gave no \`${key}\``)
}

/** Returns a decimal number of any size, which Google's JSON writes as a string. */
export function digits(fields: Facts, key: string): string {
  const value = fields[key]
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return value
  if (Number.isSafeInteger(value) && (value as number) >= 0) return String(value)
  throw failure(`gave no number as \`${key}\``)
}

/** Returns the id of a mail, which may then be in a path. */
export function messageId(fields: Facts | undefined): string {
  const id = fields?.['id']
  if (typeof id === 'string' && /^[\w-]{1,256}$/.test(id)) return id
  throw failure('gave a mail without an id')
}

/** Returns an empty list where there is none, because Google leaves empty lists out. */
export function records(fields: Facts, key: string): readonly Facts[] {
  const value = fields[key] ?? []
  const list = Array.isArray(value) ? value.map(asRecord) : [undefined]
  if (list.every((each) => each !== undefined)) return list
  throw failure(`gave no list of objects as \`${key}\``)
}

/** Returns undefined where there is no string. */
export function optional(fields: Facts, key: string): string | undefined {
  const value = fields[key] ?? ''
  if (typeof value !== 'string') throw failure(`gave no text as \`${key}\``)
  return value === '' ? undefined : value
}
