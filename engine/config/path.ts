/** Paths into a file's value, and how they are written for people. */

export type Path = readonly (string | number)[]

/** `hooks.mappings[2].match.headers["x-github-event"]` */
export function writePath(path: Path): string {
  let text = ''
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`
    else if (/^[A-Za-z_$][\w-]*$/.test(segment)) text += text === '' ? segment : `.${segment}`
    else text += `[${JSON.stringify(segment)}]`
  }
  return text
}

/** The segments of a JSON Pointer; a segment of digits counts as an index only where `value` holds a list. */
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

/** Whether one path lies at or below the other, either way. */
export function touches(one: Path, other: Path): boolean {
  const shared = Math.min(one.length, other.length)
  for (let index = 0; index < shared; index++) if (one[index] !== other[index]) return false
  return true
}

/** The texts, numbers and other single values at and below a path, each with its own path. */
export function* scalarsBelow(value: unknown, path: Path): Iterable<readonly [Path, unknown]> {
  if (typeof value !== 'object' || value === null) yield [path, value]
  else
    for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value))
      yield* scalarsBelow(item, [...path, key])
}
