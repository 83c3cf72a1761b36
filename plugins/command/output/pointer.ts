/**
 * Owns finding a value in JSON. RFC 6901, and `*` for every member of an object or an array: the one thing that
 * programs need besides, since they count tokens under the names of models.
 */

import type { FieldConfiguration, MatchConfiguration } from '../configuration.ts'

/** The values there; none where the path ends early. */
export type Pointer = (value: unknown) => readonly unknown[]

export function compilePointer(text: string): Pointer {
  const tokens = text
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  return (value) => tokens.reduce<readonly unknown[]>(step, [value])
}

function step(values: readonly unknown[], token: string): readonly unknown[] {
  return values.flatMap((value): readonly unknown[] => {
    if (typeof value !== 'object' || value === null) return []
    if (token === '*') return Object.values(value)
    return Object.hasOwn(value, token) ? [(value as Record<string, unknown>)[token]] : []
  })
}

export type Match = (value: unknown) => boolean

/** Without conditions everything matches. */
export function compileMatch(conditions: MatchConfiguration = {}): Match {
  const checks = Object.entries(conditions).map(([text, wanted]) => {
    const pointer = compilePointer(text)
    return (value: unknown) => pointer(value).includes(wanted)
  })
  return (value) => checks.every((check) => check(value))
}

/** Finds nothing in a value that does not match, or when no field is configured. */
export function compileField(field: FieldConfiguration | undefined): Pointer {
  if (field === undefined) return () => []
  if (typeof field === 'string') return compilePointer(field)
  const match = compileMatch(field.match)
  const pointer = compilePointer(field.at)
  return (value) => (match(value) ? pointer(value) : [])
}
