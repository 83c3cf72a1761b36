/** Finds integers beyond 2^53, whose digits YAML changes. */

import type { ParsedFile } from '../file/parsed-file.ts'
import { type Path, scalarsBelow } from '../path.ts'

interface InexactNumber {
  readonly path: Path
  readonly digits: string
}

/** Finds them in the value at `path`. */
export function* findInexactNumbers(source: ParsedFile, value: unknown, path: Path): Iterable<InexactNumber> {
  for (const [at, scalar] of scalarsBelow(value, path)) {
    if (typeof scalar !== 'number' || !Number.isInteger(scalar) || Number.isSafeInteger(scalar)) continue
    const digits = source.digits(at)
    if (digits !== undefined) yield { path: at, digits }
  }
}

/** Writes the value as JSON, with every digit as it was written. */
export function writeExactJson(source: ParsedFile, value: unknown, path: Path): string {
  const write = (current: unknown, at: Path): string => {
    if (Array.isArray(current))
      return `[${current.map((item, index) => write(item, [...at, index])).join(',')}]`
    if (typeof current === 'object' && current !== null) {
      const pairs = Object.entries(current).map(
        ([key, item]) => `${JSON.stringify(key)}:${write(item, [...at, key])}`,
      )
      return `{${pairs.join(',')}}`
    }
    const inexact = typeof current === 'number' && !Number.isSafeInteger(current)
    return (inexact ? source.digits(at) : undefined) ?? JSON.stringify(current)
  }
  return write(value, path)
}
