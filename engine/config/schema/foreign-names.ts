/**
 * Looks up keys of other tools, before the nearest known name is searched for an unknown key: `if` is nearer to `id` than
 * to `match.when`.
 */

import { keyHints, shorthandHints } from '../values/hints.ts'
import type { Path } from '../values/path.ts'

/** The same by kind and name in lower case. */
const known = new Map(
  Object.entries(keyHints).flatMap(([kind, names]) =>
    Object.entries(names).flatMap(([each, hint]) =>
      each.split(' ').map((name) => [`${kind} ${name.toLowerCase()}`, hint] as const),
    ),
  ),
)

/** Returns what to write instead of a name of another tool, or undefined for a name of no known tool. */
export function foreignName(path: Path): string | undefined {
  return known.get(`${kindOf(path.slice(0, -1))} ${String(path.at(-1)).toLowerCase()}`)
}

/** Returns the hint for a string or a list in place of a map of keys. */
export function shorthand(path: Path): string | undefined {
  return shorthandHints.get(String(path.at(-1)))
}

/** `hooks.mappings[3].match` and `mappings[3].match` both have the kind `mapping.match`. */
function kindOf(path: Path): string {
  const [first, second, ...rest] = path[0] === 'hooks' && path.length > 1 ? path.slice(1) : path
  if (first === 'mappings' && typeof second === 'number') {
    const steps =
      rest[0] === 'match' && rest[1] === 'headers' && rest.length === 3 ? [...rest.slice(0, 2), '*'] : rest
    return ['mapping', ...steps].join('.')
  }
  if (first === 'tests' && typeof second === 'number') return ['test', ...rest].join('.')
  if (first === 'endpoints' && rest.length === 0 && second !== undefined) return 'endpoint'
  return path.join('.')
}
