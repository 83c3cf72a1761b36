/** Owns finding numbers that YAML cannot hold: integers beyond 2^53 come out with other digits than were written. */

import type { Path } from './path.ts'

/** Their paths, `path` included. */
export function* findInexactNumbers(value: unknown, path: Path): Iterable<Path> {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) yield path
  if (typeof value !== 'object' || value === null) return
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [key, item] of entries) yield* findInexactNumbers(item, [...path, key])
}
