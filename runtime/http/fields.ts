/** Owns `name=value&name=value`, the form that query strings and form bodies share. */

export type Fields = Record<string, string | string[]>

/** What a form may hold at most: parsing more would keep the event loop from other senders. */
export const maxFields = 1000

const none: Fields = Object.freeze(Object.create(null))

/** A name that stands more than once gives a list. The result has no prototype, and no name that could set one. */
export function parseFields(text: string): Readonly<Fields> {
  if (text === '') return none
  const fields: Fields = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) {
    if (name === '__proto__') continue
    const earlier = fields[name]
    if (earlier === undefined) fields[name] = value
    else if (typeof earlier === 'string') fields[name] = [earlier, value]
    else earlier.push(value)
  }
  return fields
}

export function hasTooManyFields(text: string): boolean {
  let count = 1
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    count += 1
    if (count > maxFields) return true
  }
  return false
}
