/** Reads a payload: own properties only, never those of a prototype, and lists at any depth. */

export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}

/**
 * True if `holds` is true for any element that is not a list itself. Nested lists are kept in a list, because a payload
 * may be nested deeper than the stack allows.
 */
export function anyElement(list: readonly unknown[], holds: (element: unknown) => boolean): boolean {
  let nested: (readonly unknown[])[] | undefined
  for (let current: readonly unknown[] | undefined = list; current !== undefined; current = nested?.pop()) {
    for (const element of current) {
      if (Array.isArray(element)) {
        nested ??= []
        nested.push(element)
      } else if (holds(element)) return true
    }
  }
  return false
}
