/** Parses `name=value&name=value`, the format of query strings and form bodies. */

import { fieldsOf } from '@reveille/engine'

export { hasTooManyFields, maxFields } from '@reveille/engine'

export type Fields = Record<string, string | string[]>

const none: Fields = Object.freeze(Object.create(null))

/** A name that occurs more than once gives a list. The result has no prototype, and no name in it could set one. */
export function parseFields(text: string): Readonly<Fields> {
  if (text === '') return none
  const fields: Fields = Object.create(null)
  for (const [name, value] of fieldsOf(text)) {
    if (name === '__proto__') continue
    const earlier = fields[name]
    if (earlier === undefined) fields[name] = value
    else if (typeof earlier === 'string') fields[name] = [earlier, value]
    else earlier.push(value)
  }
  return fields
}
