/** Compares two durations of one map, of which the second limits the first. */

import type { Finding } from '../file/diagnostic.ts'
import { parseDuration } from '../values/duration.ts'
import { type Path, writePath } from '../values/path.ts'

type Named = Readonly<Record<string, string>>

/** Each of both has one key. Returns nothing if the first is not longer. */
export function longerThan(above: Path, first: Named, second: Named): Finding[] {
  const [[key = '', value = ''] = [], [limit = '', most = ''] = []] = [
    ...Object.entries(first),
    ...Object.entries(second),
  ]
  if (parseDuration(value) <= parseDuration(most)) return []
  const path = [...above, key]
  const message = `\`${writePath(path)}\` is longer than \`${limit}\` (${most})`
  const hint = `Write \`${limit}\` too, at least ${value}, or a shorter \`${key}\`.`
  return [{ path, code: 'INVALID_VALUE', message, hint }]
}
