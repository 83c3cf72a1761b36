/** Finds numbers that YAML changes: integers beyond 2^53, and those with zeros that a number does not keep. */

import type { ParsedFile } from '../file/parsed-file.ts'
import { type Path, scalarsBelow } from '../values/path.ts'

interface InexactNumber {
  readonly path: Path
  readonly digits: string
}

/** Finds them in the value at `path`. */
export function* findInexactNumbers(source: ParsedFile, value: unknown, path: Path): Iterable<InexactNumber> {
  for (const [at, scalar] of scalarsBelow(value, path)) {
    if (typeof scalar !== 'number' || !Number.isInteger(scalar) || Number.isSafeInteger(scalar)) continue
    const digits = digitsAt(source, at)
    if (digits !== undefined) yield { path: at, digits }
  }
}

/** Finds numbers such as `01234` and `1.10`, which are 1234 and 1.1. */
export function* findRewrittenNumbers(
  source: ParsedFile,
  value: unknown,
  path: Path,
): Iterable<{ readonly path: Path; readonly written: string; readonly value: number }> {
  for (const [at, scalar] of scalarsBelow(value, path)) {
    if (typeof scalar !== 'number' || (Number.isInteger(scalar) && !Number.isSafeInteger(scalar))) continue
    const written = source.writtenNumber(at)
    if (written !== undefined && written !== String(scalar)) yield { path: at, written, value: scalar }
  }
}

function digitsAt(source: ParsedFile, path: Path): string | undefined {
  return /^-?\d+$/.exec(source.writtenNumber(path) ?? '')?.[0]
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
    return (inexact ? digitsAt(source, at) : undefined) ?? JSON.stringify(current)
  }
  return write(value, path)
}
