/**
 * Provides the functions that the schemas of the API are written with. Each makes plain JSON Schema and knows the type of its values, so
 * that validators, the OpenAPI document and the types of handlers come from one declaration.
 */

declare const valueType: unique symbol

/** JSON Schema (draft 2020-12) of values of a type. */
export interface Schema<Value = unknown> {
  /** For types alone; no schema has it. */
  readonly [valueType]: Value
  readonly [keyword: string]: unknown
}

export type ValueOf<Of> = Of extends Schema<infer Value> ? Value : never

/** Marks a schema that stands under its name in the OpenAPI document. */
export const componentName = Symbol('component')
/** Marks a property that may be absent. */
export const isOptional = Symbol('optional')
/** Marks an answer that is not JSON with its content type. */
export const contentType = Symbol('content type')

export type Properties = Readonly<Record<string, Schema>>
/** An interface, because the declarations that are published name it where they could not name its key. */
export interface Optional<Value> extends Schema<Value> {
  readonly [isOptional]: true
}

type OptionalNames<Of> = { [Name in keyof Of]: Of[Name] extends Optional<unknown> ? Name : never }[keyof Of]

/** The type of an object with these properties. */
export type ObjectOf<Of> = {
  readonly [Name in Exclude<keyof Of, OptionalNames<Of>>]: ValueOf<Of[Name]>
} & { readonly [Name in OptionalNames<Of>]?: ValueOf<Of[Name]> }

interface Notes {
  readonly description?: string
  /** The end of the message "must be …", for a rule whose own words are unclear. */
  readonly expects?: string
}

function schema<Value>(node: object): Schema<Value> {
  return node as unknown as Schema<Value>
}

/** Makes properties that may be absent. */
export function optional<Of extends Properties>(properties: Of) {
  const marked = Object.entries(properties).map(([name, node]) => [name, { ...node, [isOptional]: true }])
  return Object.fromEntries(marked) as { readonly [Name in keyof Of]: Optional<ValueOf<Of[Name]>> }
}

/** Makes an object of which these properties are known. */
export function object<Of extends Properties>(properties: Of, notes: Notes = {}) {
  const required = Object.entries(properties).flatMap(([name, node]) => (isOptional in node ? [] : name))
  return schema<ObjectOf<Of>>({
    type: 'object',
    ...notes,
    ...(required.length > 0 && { required }),
    properties,
  })
}

/** Makes an object that has no other properties, as queries and bodies are. */
export function closedObject<Of extends Properties>(properties: Of, notes: Notes = {}) {
  return schema<ObjectOf<Of>>({ ...object(properties, notes), additionalProperties: false })
}

/** Makes an object with names that are not known beforehand. */
export function map<Value>(values: Schema<Value>, notes: Notes = {}) {
  return schema<Readonly<Record<string, Value>>>({ type: 'object', ...notes, additionalProperties: values })
}

/** Makes an object that is described elsewhere. */
export function anyObject(description: string) {
  return schema<object>({ type: 'object', description })
}

export function list<Item>(
  items: Schema<Item>,
  notes: Notes & { maxItems?: number; minItems?: number } = {},
) {
  return schema<readonly Item[]>({ type: 'array', ...notes, items })
}

/** Makes any text. */
export function text(
  description?: string,
  notes: Notes & { pattern?: string; minLength?: number; maxLength?: number } = {},
) {
  return schema<string>({ type: 'string', ...(description !== undefined && { description }), ...notes })
}

/** Makes a text that is given: neither blank nor longer than `maxBytes` of UTF-8. */
export function givenText(description: string, maxBytes: number) {
  const rules = { pattern: '\\S', 'x-wellFormed': true, 'x-maxBytes': maxBytes }
  return schema<string>({ type: 'string', description, ...rules })
}

export function oneOf<const Names extends readonly string[]>(names: Names, description?: string) {
  return schema<Names[number]>({
    type: 'string',
    enum: names,
    ...(description !== undefined && { description }),
  })
}

export function integer(description?: string, notes: Notes & { minimum?: number; maximum?: number } = {}) {
  return schema<number>({ type: 'integer', ...(description !== undefined && { description }), ...notes })
}

export function number(description?: string) {
  return schema<number>({ type: 'number', ...(description !== undefined && { description }) })
}

export function flag(description?: string) {
  return schema<boolean>({ type: 'boolean', ...(description !== undefined && { description }) })
}

/** Makes a constant. */
export function exactly<const Value extends string | boolean>(value: Value) {
  return schema<Value>({ const: value })
}

export function nullable<Value>(node: Schema<Value>) {
  return schema<Value | null>({ anyOf: [node, { type: 'null' }] })
}

export function either<One, Other>(one: Schema<One>, other: Schema<Other>) {
  return schema<One | Other>({ anyOf: [one, other] })
}

/** Makes any JSON value. */
export function anything(description: string) {
  return schema<unknown>({ description })
}

/** Gives a schema the name under which it stands in the OpenAPI document. */
export function named<Value>(name: string, node: Schema<Value>): Schema<Value> {
  return { ...node, [componentName]: name }
}

/** Makes an answer that is not JSON. */
export function content(type: string, description: string) {
  return schema<unknown>({ description, [contentType]: type })
}

/** Milliseconds since the Unix epoch. */
export const time = integer('Milliseconds since the Unix epoch.')
export const id = text('A UUIDv7. It may be written in any case.')
