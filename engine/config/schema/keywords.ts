/** Defines the keywords that our schemas add to JSON Schema, and shorthands for writing schemas. */

import { isIP } from 'node:net'
import { isAddressRange } from '../values/address-range.ts'
import { isLoopback } from '../values/loopback.ts'
import { byteSizePattern, durationPattern } from '../values/quantities.ts'
import { isTime } from '../values/time.ts'
import { type Static, type TOptional, type TProperties, type TSchema, Type } from './type.ts'

/** Annotations for the checker. Other readers of the schema ignore them. */
export interface Notes {
  /** The key's one line of documentation. */
  description?: string
  /** The end of the message "must be …". Absent: it follows from the schema. */
  expects?: string
  /** If false, `${…}` below this key is plain text. */
  references?: false
  /** The name of the definition that describes the value to editors. */
  editor?: string
  /** Maximum value of a duration in milliseconds. */
  maxMs?: number
  /** What a string must be, where a pattern cannot say it. */
  form?: FormName
  /** What to write instead of a value that is refused. */
  hint?: string
  /** The name by which others refer to the schema, which is then compiled once. */
  $id?: string
}

/** What strings can be tested for. */
export const forms = {
  host: (text: string) =>
    isIP(text.replace(/^\[(.*)\]$/, '$1')) !== 0 || /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?\.?$/i.test(text),
  range: isAddressRange,
  /** An address that nobody on the way can read. */
  privateUrl: (text: string) => {
    const url = URL.parse(text)
    return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
  },
  time: isTime,
}
export type FormName = keyof typeof forms

export type TypeName = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'

/** What the readers of our schemas know of them. */
export interface SchemaNode extends Readonly<Notes> {
  readonly type?: TypeName | readonly TypeName[]
  readonly default?: unknown
  readonly enum?: readonly (string | number)[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly pattern?: string
  readonly items?: SchemaNode
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | SchemaNode
  readonly propertyNames?: SchemaNode
  /** The name of a definition. */
  readonly $ref?: string
}

export const keywords = ['expects', 'references', 'editor', 'hint'] as const

/** Makes a map with exactly these keys. */
export function keys<Properties extends TProperties>(
  properties: Properties,
  notes: Notes & { default?: object; minProperties?: number } = {},
) {
  return Type.Object(properties, { additionalProperties: false, ...notes })
}

/** Makes a map with exactly these keys that may be absent as a whole. Then all its defaults apply. */
export function section<Properties extends TProperties>(description: string, properties: Properties) {
  return keys(properties, { default: {}, description })
}

/** Makes keys that may be absent and have no default. */
export function optional<Properties extends TProperties>(properties: Properties) {
  const marked = Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)])
  return Object.fromEntries(marked) as { [Name in keyof Properties]: TOptional<Properties[Name]> }
}

/** The key in which editors look for the schema of a file. */
export const schemaKey = Type.Optional(
  Type.String({ references: false, description: 'JSON Schema of this file, for editors.' }),
)

export function flag(description: string, notes: Notes & { default?: boolean } = {}) {
  return Type.Boolean({ description, ...notes })
}

/** Makes an integer. */
export function integer(
  description: string,
  notes: Notes & { default?: number; minimum: number; maximum?: number },
) {
  return Type.Integer({ description, ...notes })
}

/** Makes an amount of money in USD. */
export function dollars(description: string, notes: Notes & { minimum: number }) {
  return Type.Unsafe<number>({ type: 'number', maximum: 1_000_000, description, ...notes })
}

export function oneOf<const Names extends readonly string[]>(
  description: string,
  names: Names,
  notes: Notes & { default?: Names[number] } = {},
) {
  return Type.Unsafe<Names[number]>({ type: 'string', enum: [...names], description, ...notes })
}

/** A string that is not blank. */
export const anyText = Type.String({ minLength: 1, pattern: '\\S' })

export function text(
  description: string,
  notes: Notes & { default?: string; pattern?: string; maxLength?: number } = {},
) {
  return Type.String({ ...anyText, description, ...notes })
}

/** Makes a list of strings that are not blank. */
export function texts(
  description: string,
  notes: Notes & { default?: string[]; minItems?: number } = {},
  item: Notes & { pattern?: string } = {},
) {
  return Type.Array(Type.String({ ...anyText, ...item }), { description, ...notes })
}

/** Makes a string such as `30m`. */
export function duration(description: string, notes: Notes & { default?: string } = {}) {
  return Type.String({
    pattern: durationPattern,
    expects: 'a duration such as 250ms, 10s, 30m, 24h or 7d',
    description,
    ...notes,
  })
}

/** Makes a string such as `1GiB`. */
export function byteSize(description: string, notes: Notes & { default?: string } = {}) {
  return Type.String({
    pattern: byteSizePattern,
    expects: 'a size such as 500KiB, 20MiB or 1GiB',
    description,
    ...notes,
  })
}

/** Makes the limits on the cost of runs in one day. At least one of the keys is required. */
export function dailyBudget(description: string) {
  const amounts = optional({
    runs: integer('Turns.', { minimum: 1 }),
    tokens: integer('Input and output tokens, as the runner reports them.', { minimum: 1 }),
    usd: dollars('US dollars, by model prices; the runner must report tokens.', {
      minimum: 0.01,
      expects: 'an amount of US dollars of at least 0.01, without a sign',
    }),
  })
  return keys(amounts, { $id: 'dailyBudget', minProperties: 1, description })
}

/** Makes one string, or a list of at least one. */
export function textOrTexts(description: string) {
  return Type.Unsafe<string | readonly string[]>({
    type: ['string', 'array'],
    items: { type: 'string' },
    minItems: 1,
    expects: 'a string, or a list of strings',
    description,
  })
}

/** Makes a map by names that the operator chooses. `names` validates them, and its `expects` describes them. */
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

/** A map whose keys only a plugin knows. */
export const open = Type.Unsafe<Record<string, unknown>>({ type: 'object' })
