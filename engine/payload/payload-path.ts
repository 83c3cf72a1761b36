/** Reads fields of a payload by their names. It finds own properties only, never those of a prototype. */

export function valueAt(payload: unknown, path: readonly string[]): unknown {
  let value = payload
  for (const name of path) value = memberOf(value, name)
  return value
}

export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}
