/** Finds numbers that YAML changes: integers beyond 2^53, and those with zeros that a number does not keep. */

import type { ParsedFile } from '../file/parsed-file.ts'
import { type Path, scalarsBelow } from '../values/path.ts'

/**
 * Finds the numbers in the value at `path` that are not what was written: inexact ones, and those such as `01234` and `1.10`,
 * which are 1234 and 1.1.
 */
export function* findChangedNumbers(source: ParsedFile, value: unknown, path: Path) {
  for (const [at, scalar] of scalarsBelow(value, path)) {
    if (typeof scalar !== 'number') continue
    const isInexact = Number.isInteger(scalar) && !Number.isSafeInteger(scalar)
    const written = isInexact ? digitsAt(source, at) : source.writtenNumber(at)
    if (written !== undefined && (isInexact || written !== String(scalar)))
      yield { path: at, written, value: scalar, isInexact }
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
