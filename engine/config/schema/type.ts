/**
 * The words that schemas are written in: TypeBox's types, with the JSON Schema that it makes for them. TypeBox
 * itself is 373 modules, which every process that is not bundled would read to start.
 */

import type * as TypeBox from 'typebox'

export type { Static, TObject, TOptional, TProperties, TSchema, TUnsafe } from 'typebox'

type Words = Pick<
  typeof TypeBox,
  'Array' | 'Boolean' | 'Integer' | 'Object' | 'Optional' | 'String' | 'Unsafe'
>

/** A mark for the map that holds the key; readers and checkers of the schema do not see it. */
const optional = '~optional'

export const Type = {
  Array: (items: object, notes?: object) => ({ type: 'array', items, ...notes }),
  Boolean: (notes?: object) => ({ type: 'boolean', ...notes }),
  Integer: (notes?: object) => ({ type: 'integer', ...notes }),
  Object: (properties: object, notes?: object) => {
    const required = Object.entries(properties).flatMap(([key, schema]) => (optional in schema ? [] : key))
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...notes }
  },
  Optional: (schema: object) => Object.defineProperty({ ...schema }, optional, { value: true }),
  String: (notes?: object) => ({ type: 'string', ...notes }),
  Unsafe: (schema: object) => ({ ...schema }),
} as unknown as Words
