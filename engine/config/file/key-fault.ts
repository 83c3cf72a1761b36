/** Says what is wrong with a key before it is known where the key is written. */

import { type Path, writePath } from '../values/path.ts'
import type { Finding } from './diagnostic.ts'

/** Something wrong with a key of a part of a file; all paths begin at that part. */
export interface KeyFault extends Omit<Finding, 'path' | 'message'> {
  readonly keys: Path
  /** Where the finding points. Default: to the key. */
  readonly place?: Path
  /** The key that the message begins with. Default: the key itself. */
  readonly named?: Path
  /** The rest of the message. */
  readonly problem: string
}

/** `above`: the path of the part. */
export function findingOf(
  { keys, place = keys, named = keys, problem, ...rest }: KeyFault,
  above: Path,
): Finding {
  return { ...rest, path: [...above, ...place], message: `\`${writePath([...above, ...named])}\` ${problem}` }
}

/** The fault of a key that says nothing. */
export function noEffect(keys: Path, why: string, hint = 'Remove it.'): KeyFault {
  const problem = `has no effect: ${why}`
  return { keys, severity: 'warning', at: 'key', code: 'UNUSED_FIELD', problem, hint }
}
