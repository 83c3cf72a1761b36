/** TypeBox schemas that several routes share, and the types of what a schema admits. */

import { type Static, type TSchema, Type } from '@reveille/engine/schema'
import type { Frozen } from '../../store/record-schemas.ts'

export { id, optional, time, type ValueOf } from '../../store/record-schemas.ts'

export type Properties = Readonly<Record<string, TSchema>>

export type ObjectOf<Of extends Properties> = Frozen<Static<ReturnType<typeof Type.Object<Of>>>>

/** True if `optional` has made this schema. */
export function isOptional(schema: object | undefined): boolean {
  return schema !== undefined && '~optional' in schema
}

/** Makes a string that is given: neither blank nor longer than `maxBytes` of UTF-8. */
export function boundedText(description: string, maxBytes: number) {
  return Type.String({ description, pattern: '\\S', 'x-wellFormed': true, 'x-maxBytes': maxBytes })
}
