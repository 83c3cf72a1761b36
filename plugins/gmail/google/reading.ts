/** Owns reading fields of Google's answers: each is what it should be, or the whole answer counts for nothing. */

import { type Facts, type PluginError, recordOf } from '@reveille/kit'
import { malformed } from './failure.ts'
import type { Service } from './service.ts'

export interface Reader {
  /** A text that is not empty. */
  text(fields: Facts, key: string): string
  /** A decimal number of any size; JSON of Google's has them as texts. */
  digits(fields: Facts, key: string): string
  /** Of a mail: what may stand in a path. */
  messageId(fields: Facts | undefined): string
  /** Empty where there is none, as Google leaves empty lists out. */
  records(fields: Facts, key: string): readonly Facts[]
  /** Undefined where there is none. */
  optional(fields: Facts, key: string): string | undefined
  failure(what: string): PluginError
}

export function createReader(service: Service): Reader {
  const failure = (what: string) => malformed(service, what)
  return {
    failure,
    text(fields, key) {
      const value = fields[key]
      if (typeof value === 'string' && value !== '') return value
      throw failure(`gave no \`${key}\``)
    },
    digits(fields, key) {
      const value = fields[key]
      if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return value
      if (Number.isSafeInteger(value) && (value as number) >= 0) return String(value)
      throw failure(`gave no number as \`${key}\``)
    },
    messageId(fields) {
      const id = fields?.['id']
      if (typeof id === 'string' && /^[\w-]{1,256}$/.test(id)) return id
      throw failure('gave a mail without an id')
    },
    records(fields, key) {
      const value = fields[key] ?? []
      const records = Array.isArray(value) ? value.map(recordOf) : [undefined]
      if (records.every((each) => each !== undefined)) return records
      throw failure(`gave no list of objects as \`${key}\``)
    },
    optional(fields, key) {
      const value = fields[key] ?? ''
      if (typeof value !== 'string') throw failure(`gave no text as \`${key}\``)
      return value === '' ? undefined : value
    },
  }
}
