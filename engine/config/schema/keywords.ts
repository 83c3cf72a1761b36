/** The few words that our schemas add to JSON Schema, and the shorthands that the schemas are written with. */

import { durationPattern } from '../duration.ts'
import { type Static, type TProperties, type TSchema, Type } from './type.ts'

/** Annotations understood by the checker; to any other reader of the schema they mean nothing. */
export interface Notes {
  /** The key's one line of documentation. */
  description?: string
  /** What the value must be, for a message: "must be …". Absent: it follows from the schema. */
  expects?: string
  /** The feature is not built yet: only an empty value is accepted. */
  later?: true
  /** False: `${…}` below this key is plain text. */
  references?: false
  /** The name of the definition that describes the value to editors. */
  editor?: string
  /** A duration's longest value in milliseconds. */
  atMostMs?: number
}

export const keywords = ['expects', 'references', 'editor'] as const

/** A map with exactly these keys. */
export function keys<Properties extends TProperties>(
  properties: Properties,
  notes: Notes & { default?: object; minProperties?: number } = {},
) {
  return Type.Object(properties, { additionalProperties: false, ...notes })
}

/** For editors that look for their schema in the file. */
export const schemaKey = Type.Optional(
  Type.String({ references: false, description: 'Where editors find the JSON Schema of this file.' }),
)

/** A map with exactly these keys that may be left out as a whole; then all its defaults hold. */
export function section<Properties extends TProperties>(properties: Properties, notes: Notes = {}) {
  return keys(properties, { default: {}, ...notes })
}

export function oneOf<const Names extends readonly string[]>(
  names: Names,
  notes: Notes & { default?: Names[number] } = {},
) {
  return Type.Unsafe<Names[number]>({ type: 'string', enum: [...names], ...notes })
}

/** A text that is not blank. */
export function text(notes: Notes & { default?: string; pattern?: string; maxLength?: number } = {}) {
  return Type.String({ minLength: 1, pattern: '\\S', ...notes })
}

/** A text such as `30m`. */
export function duration(notes: Notes & { default?: string }) {
  return Type.String({
    pattern: durationPattern,
    expects: 'a duration such as 250ms, 10s, 30m, 24h or 7d',
    ...notes,
  })
}

/** What runs may cost in one day: at least one of the two. */
export function dailyBudget(description: string) {
  return keys(
    {
      runs: Type.Optional(Type.Integer({ minimum: 1, description: 'Turns that were asked for.' })),
      tokens: Type.Optional(
        Type.Integer({ minimum: 1, description: 'Input and output together, as the runner counts them.' }),
      ),
    },
    { minProperties: 1, description },
  )
}

/** One text, or a list of them. */
export function textOrTexts(notes: Notes & { minItems?: number } = {}) {
  return Type.Unsafe<string | readonly string[]>({
    type: ['string', 'array'],
    items: { type: 'string' },
    expects: 'text, or a list of texts',
    ...notes,
  })
}

/** A value by name; the names are the operator's. `names` says which are good, its `expects` what they consist of. */
export function byName<Value extends TSchema>(
  value: Value,
  notes: Notes & { default?: object; names?: { pattern: string; expects: string } } = {},
) {
  const { names, ...rest } = notes
  return Type.Unsafe<Record<string, Static<Value>>>({
    type: 'object',
    additionalProperties: value,
    ...(names && { propertyNames: names }),
    ...rest,
  })
}

/** A map whose keys a plugin knows and we do not. */
export function open(notes: Notes = {}) {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', ...notes })
}

/** A key of a later version: known, refused unless empty. */
export function later(description: string) {
  return Type.Optional(Type.Unsafe<unknown>({ description, later: true }))
}
