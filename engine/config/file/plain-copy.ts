/** Owns copying a part of a file's value to what JSON would give: nothing shared, and maps like any other. */

import { shapeValue } from './shape.ts'

/** @throws RangeError where the aliases of the value expand to more than a million values. */
export function plainCopy<Value>(value: Value): Value {
  const { value: copied } = shapeValue(value, { references: false })
  return JSON.parse(JSON.stringify(copied)) as Value
}
