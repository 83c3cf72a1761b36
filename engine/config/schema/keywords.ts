/** Defines the keywords that our schemas add to JSON Schema, and shorthands for writing schemas. */

import { isIP } from 'node:net'
import { isAddressRange } from '../values/address-range.ts'
import { isLoopback } from '../values/loopback.ts'
import { byteSizePattern, durationPattern } from '../values/quantities.ts'
import { isTime } from '../values/time.ts'
import {
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from './type.ts'

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
  /** One of {@link formats}, where a pattern cannot say it. */
  format?: keyof typeof formats
  /** Advice for a value that is refused. */
  hint?: string
  /** The name by which others refer to the schema, which is then compiled once. */
  $id?: string
}

/** Our own formats of strings. Editors do not know them. */
export const formats = {
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

export type TypeName = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'

/** The schema's properties that our readers use. */
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

/** Constraints of a key's values, besides notes. */
interface Rules<Value> extends Notes {
  default?: Value
  minimum?: number
  maximum?: number
  pattern?: string
  minLength?: number
  maxLength?: number
  minItems?: number
  minProperties?: number
  /** For names of the operator's choice. `expects` describes them. */
  propertyNames?: { pattern: string; expects: string }
}

/** A key with a default is always there, and any other may be absent unless it is {@link required}. */
type Key<Value, Given> = Given extends { default: unknown } ? TUnsafe<Value> : TOptional<TUnsafe<Value>>

function key<Value, Given>(schema: object, rules?: Given): Key<Value, Given> {
  const made = Type.Unsafe<Value>({ ...schema, ...rules })
  return ('default' in made ? made : Type.Optional(made)) as Key<Value, Given>
}

/** Makes a key that has no default, and has to be there all the same. */
export function required<Schema extends TSchema>(schema: TOptional<Schema>): Schema {
  return { ...schema }
}

/** Makes a key of a type that the functions below do not have. It has no default. */
export function other<Value>(schema: object) {
  return key<Value, object>(schema)
}

/** Makes a map with exactly these keys. */
export function keys<Properties extends TProperties>(properties: Properties, rules?: Rules<object>) {
  const map = Type.Object(properties, { additionalProperties: false, ...rules })
  return Type.Optional(map) as TOptional<TObject<Properties>>
}

/** Makes a key for such a map. */
export function group<Properties extends TProperties>(
  description: string,
  properties: Properties,
  rules?: Rules<object>,
) {
  return keys(properties, { description, ...rules })
}

/** Makes a map with exactly these keys that may be absent as a whole. Then all its defaults apply. */
export function section<Properties extends TProperties>(description: string, properties: Properties) {
  return required(group(description, properties, { default: {} }))
}

/** The key in which editors look for the schema of a file. */
export const schemaKey = anyText('JSON Schema of this file, for editors.', { references: false })

export function flag<Given extends Rules<boolean>>(description: string, rules?: Given) {
  return key<boolean, Given>({ type: 'boolean', description }, rules)
}

/** Makes an integer. */
export function integer<Given extends Rules<number> & { minimum: number }>(
  description: string,
  rules: Given,
) {
  return key<number, Given>({ type: 'integer', description }, rules)
}

/** Makes an amount of money in USD. */
export function dollars(description: string, rules: Rules<number> & { minimum: number }) {
  return other<number>({ type: 'number', maximum: 1_000_000, description, ...rules })
}

export function oneOf<const Names extends readonly string[], Given extends Rules<Names[number]>>(
  description: string,
  names: Names,
  rules?: Given,
) {
  return key<Names[number], Given>({ type: 'string', enum: [...names], description }, rules)
}

/** Makes a string that may be empty. */
export function anyText(description: string, rules?: Rules<string>) {
  return other<string>({ type: 'string', description, ...rules })
}

const notBlank = { type: 'string', minLength: 1, pattern: '\\S' }

/** Makes a string that is not blank. */
export function text<Given extends Rules<string>>(description: string, rules?: Given) {
  return key<string, Given>({ ...notBlank, description }, rules)
}

/** Makes a list of strings that are not blank. */
export function texts<Given extends Rules<string[]>>(
  description: string,
  rules?: Given,
  item?: Rules<string>,
) {
  return key<string[], Given>({ type: 'array', items: { ...notBlank, ...item }, description }, rules)
}

/** Makes a list. */
export function list<Item extends TSchema, Given extends Rules<[]>>(
  description: string,
  items: Item,
  rules?: Given,
) {
  return key<Static<Item>[], Given>({ type: 'array', items, description }, rules)
}

/** Makes a string such as `30m`. */
export function duration<Given extends Rules<string>>(description: string, rules?: Given) {
  const expects = 'a duration such as 250ms, 10s, 30m, 24h or 7d'
  return key<string, Given>({ type: 'string', pattern: durationPattern, expects, description }, rules)
}

/** Makes a string such as `1GiB`. */
export function byteSize<Given extends Rules<string>>(description: string, rules?: Given) {
  const expects = 'a size such as 500KiB, 20MiB or 1GiB'
  return key<string, Given>({ type: 'string', pattern: byteSizePattern, expects, description }, rules)
}

/** Makes the limits on the cost of runs in one day. At least one of the keys is required. */
export function dailyBudget(description: string) {
  const amounts = {
    runs: integer('Turns.', { minimum: 1 }),
    tokens: integer('Input and output tokens, as the runner reports them.', { minimum: 1 }),
    usd: dollars('US dollars, by model prices; the runner must report tokens.', {
      minimum: 0.01,
      expects: 'an amount of US dollars of at least 0.01, without a sign',
    }),
  }
  return group(description, amounts, { $id: 'dailyBudget', minProperties: 1 })
}

/** Makes one string, or a list of at least one. */
export function textOrTexts(description: string) {
  const expects = 'a string, or a list of strings'
  const type = ['string', 'array']
  return other<string | readonly string[]>({
    type,
    items: { type: 'string' },
    minItems: 1,
    expects,
    description,
  })
}

/** Makes a map by names that the operator chooses. */
export function byName<Value extends TSchema, Given extends Rules<object>>(
  description: string,
  value: Value,
  rules?: Given,
) {
  const schema = { type: 'object', additionalProperties: value, description }
  return key<Record<string, Static<Value>>, Given>(schema, rules)
}

/** A map whose keys only a plugin knows. */
export const open = Type.Unsafe<Record<string, unknown>>({ type: 'object' })
