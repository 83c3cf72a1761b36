/** The few words that our schemas add to JSON Schema, and the shorthands that the schemas are written with. */

import { durationPattern } from '../duration.ts'
import { type Static, type TOptional, type TProperties, type TSchema, Type } from './type.ts'

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

/** A map with exactly these keys that may be left out as a whole; then all its defaults hold. */
export function section<Properties extends TProperties>(description: string, properties: Properties) {
  return keys(properties, { default: {}, description })
}

/** Keys that may be left out and have no default. */
export function optional<Properties extends TProperties>(properties: Properties) {
  const marked = Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)])
  return Object.fromEntries(marked) as { [Name in keyof Properties]: TOptional<Properties[Name]> }
}

/** For editors that look for their schema in the file. */
export const schemaKey = Type.Optional(
  Type.String({ references: false, description: 'Where editors find the JSON Schema of this file.' }),
)

export function flag(description: string, notes: Notes & { default?: boolean } = {}) {
  return Type.Boolean({ description, ...notes })
}

/** A whole number. */
export function integer(
  description: string,
  notes: Notes & { default?: number; minimum: number; maximum?: number },
) {
  return Type.Integer({ description, ...notes })
}

export function oneOf<const Names extends readonly string[]>(
  description: string,
  names: Names,
  notes: Notes & { default?: Names[number] } = {},
) {
  return Type.Unsafe<Names[number]>({ type: 'string', enum: [...names], description, ...notes })
}

/** A text that is not blank. */
export const anyText = Type.String({ minLength: 1, pattern: '\\S' })

export function text(
  description: string,
  notes: Notes & { default?: string; pattern?: string; maxLength?: number } = {},
) {
  return Type.String({ ...anyText, description, ...notes })
}

/** Texts that are not blank. */
export function texts(description: string, notes: Notes & { default?: string[]; minItems?: number } = {}) {
  return Type.Array(anyText, { description, ...notes })
}

/** A text such as `30m`. */
export function duration(description: string, notes: Notes & { default?: string } = {}) {
  return Type.String({
    pattern: durationPattern,
    expects: 'a duration such as 250ms, 10s, 30m, 24h or 7d',
    description,
    ...notes,
  })
}

/** What runs may cost in one day: at least one of the two. */
export function dailyBudget(description: string) {
  const amounts = optional({
    runs: integer('Turns that were asked for.', { minimum: 1 }),
    tokens: integer('Input and output together, as the runner counts them.', { minimum: 1 }),
  })
  return keys(amounts, { minProperties: 1, description })
}

/** One text, or a list of at least one. */
export function textOrTexts(description: string) {
  return Type.Unsafe<string | readonly string[]>({
    type: ['string', 'array'],
    items: { type: 'string' },
    minItems: 1,
    expects: 'text, or a list of texts',
    description,
  })
}

/** A value by name; the names are the operator's. `names` says which are good, its `expects` what they consist of. */
export function byName<Value extends TSchema>(
  description: string,
  value: Value,
  { names, ...notes }: Notes & { default?: object; names?: { pattern: string; expects: string } } = {},
) {
  return Type.Unsafe<Record<string, Static<Value>>>({
    type: 'object',
    additionalProperties: value,
    ...(names && { propertyNames: names }),
    description,
    ...notes,
  })
}

/** A map whose keys a plugin knows and we do not. */
export const open = Type.Unsafe<Record<string, unknown>>({ type: 'object' })
