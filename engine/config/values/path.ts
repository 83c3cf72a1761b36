/** Handles paths into a file's value, and writes them for people. */

export type Path = readonly (string | number)[]

/** Returns `hooks.mappings[2].match.headers["x-github-event"]`. */
export function writePath(path: Path): string {
  let text = ''
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`
    else if (/^[A-Za-z_$][\w-]*$/.test(segment)) text += text === '' ? segment : `.${segment}`
    else text += `[${JSON.stringify(segment)}]`
  }
  return text
}

/** Returns the segments of a JSON Pointer. A segment of digits counts as an index only if `value` holds a list there. */
export function readPointer(pointer: string, value: unknown): Path {
  const path: (string | number)[] = []
  let current = value
  for (const raw of pointer.split('/').slice(1)) {
    const segment = raw.replaceAll('~1', '/').replaceAll('~0', '~')
    const key = Array.isArray(current) ? Number(segment) : segment
    path.push(key)
    current = (current as Record<string | number, unknown> | undefined)?.[key]
  }
  return path
}

/** True if one path lies at or below the other, either way. */
export function touches(one: Path, other: Path): boolean {
  const shared = Math.min(one.length, other.length)
  return one.slice(0, shared).every((segment, index) => segment === other[index])
}

/** Yields the strings, numbers and other scalars at and below a path, each with its own path. */
export function* scalarsBelow(value: unknown, path: Path): Iterable<readonly [Path, unknown]> {
  if (typeof value !== 'object' || value === null) yield [path, value]
  else
    for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value))
      yield* scalarsBelow(item, [...path, key])
}

/** Returns the value at a path of plain data, or undefined if there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((holder, key) => {
    const isHeld = typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
    return isHeld ? (holder as Readonly<Record<string | number, unknown>>)[key] : undefined
  }, value)
}
