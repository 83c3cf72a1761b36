/** Looks into a payload: own fields only, and lists however they nest. */

/**
 * Whether `holds` says so of any element that is no list itself. Lists in lists are kept on a list of their own: a
 * payload may nest deeper than the stack is.
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

/** The field of an object; nothing where there is no object, or no such field of its own. */
export function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Readonly<Record<string, unknown>>)[key]
}
