/** Implements the keyword `uniqueItems` in linear time. Ajv's own compares all elements with all others. */

import type { FuncKeywordDefinition } from 'ajv'
import { isRecord } from '../../config/values/is-record.ts'

/** Replaces Ajv's own keyword. */
export const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  compile: (wanted: boolean) => (list: readonly unknown[]) =>
    !wanted || new Set(list.map(canonical)).size === list.length,
  errors: false,
  error: { message: 'must NOT have duplicate items' },
}

/** Returns the value as JSON, the same for objects that differ only in the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner) => (isRecord(inner) ? sorted(inner) : inner))
}

function sorted(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const names = Object.keys(fields).sort()
  return Object.fromEntries(names.map((name) => [name, fields[name]]))
}
