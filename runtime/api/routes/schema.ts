/** What several routes say in TypeBox, and the types of what a schema admits. */

import { type Static, type TOptional, type TSchema, Type } from '@reveille/engine/schema'

export type Properties = Readonly<Record<string, TSchema>>

/** The type of what passes a schema. Nothing changes what was answered or asked. */
export type ValueOf<Of> = Of extends TSchema ? Frozen<Static<Of>> : never
export type ObjectOf<Of extends Properties> = Frozen<Static<ReturnType<typeof Type.Object<Of>>>>

type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value

/** Makes properties that may be absent. */
export function optional<Of extends Properties>(properties: Of) {
  const all = Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)])
  return Object.fromEntries(all) as { readonly [Name in keyof Of]: TOptional<Of[Name]> }
}

/** Whether `optional` has made this schema. */
export function isOptional(schema: object | undefined): boolean {
  return schema !== undefined && '~optional' in schema
}

/** Makes a string that is given: neither blank nor longer than `maxBytes` of UTF-8. */
export function givenText(description: string, maxBytes: number) {
  return Type.String({ description, pattern: '\\S', 'x-wellFormed': true, 'x-maxBytes': maxBytes })
}

/** Milliseconds since the Unix epoch. */
export const time = Type.Integer({ description: 'Milliseconds since the Unix epoch.' })
export const id = Type.String({ description: 'A UUIDv7. It may be written in any case.' })
