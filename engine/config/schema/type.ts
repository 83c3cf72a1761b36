/**
 * Provides the functions that schemas are written with. They have TypeBox's types and make the same JSON Schema.
 * TypeBox itself has 373 modules, which every process that is not bundled would read at start.
 */

import type * as TypeBox from 'typebox'

export type { Static, TObject, TOptional, TProperties, TSchema, TUnsafe } from 'typebox'

type Words = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>

/** A mark for the map that holds the key. It is invisible to readers and checkers of the schema. */
const optional = '~optional'

export const Type = {
  Array: (items: object, notes?: object) => ({ type: 'array', items, ...notes }),
  Boolean: (notes?: object) => ({ type: 'boolean', ...notes }),
  Enum: (values: readonly unknown[], notes?: object) => ({ enum: values, ...notes }),
  Integer: (notes?: object) => ({ type: 'integer', ...notes }),
  Literal: (value: unknown) => ({ type: typeof value, const: value }),
  Null: () => ({ type: 'null' }),
  Number: (notes?: object) => ({ type: 'number', ...notes }),
  Object: (properties: object, notes?: object) => {
    const required = Object.entries(properties).flatMap(([key, schema]) => (optional in schema ? [] : key))
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...notes }
  },
  Optional: (schema: object) => Object.defineProperty({ ...schema }, optional, { value: true }),
  Record: (_names: object, values: object, notes?: object) => ({
    type: 'object',
    patternProperties: { '^.*$': values },
    ...notes,
  }),
  String: (notes?: object) => ({ type: 'string', ...notes }),
  Union: (schemas: readonly object[], notes?: object) => ({ anyOf: schemas, ...notes }),
  Unknown: (notes?: object) => ({ ...notes }),
  Unsafe: (schema: object) => ({ ...schema }),
} as unknown as Words
