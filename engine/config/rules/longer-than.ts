/** Compares two durations of one map, of which the second limits the first. */

import type { Finding } from '../file/diagnostic.ts'
import { parseDuration } from '../values/duration.ts'
import type { Path } from '../values/path.ts'

type Named = Readonly<Record<string, string>>

/** Each of both has one key. Returns nothing if the first is not longer. */
export function longerThan(above: Path, first: Named, second: Named): Finding[] {
  const [[key = '', value = ''] = []] = Object.entries(first)
  const [[limit = '', max = ''] = []] = Object.entries(second)
  if (parseDuration(value) <= parseDuration(max)) return []
  const problem = `is longer than \`${limit}\` (${max})`
  const hint = `Write \`${limit}\` too, at least ${value}, or a shorter \`${key}\`.`
  return [{ path: [...above, key], code: 'INVALID_VALUE', problem, hint }]
}
