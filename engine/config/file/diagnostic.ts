/** Defines the diagnostic, which is one finding about the operator's files with its place and a hint. */

import type { Path } from '../values/path.ts'
import { parseDuration } from '../values/quantities.ts'

export interface Place {
  /** The absolute path. */
  readonly file: string
  /** The name that is shown for a file that does not belong to the operator: `preset github`. */
  readonly calledFile?: string
  /** The line, from 1. */
  readonly line: number
  /** The column, from 1, in UTF-16 units. */
  readonly column: number
  /** The text of that line with secrets masked, or a part of a very long line. Empty if there is no line to show. */
  readonly text: string
  /** The column within `text`, if masking or cutting moved it. Default: `column`. */
  readonly caret?: number
}

export type Severity = 'error' | 'warning'

export interface Diagnostic {
  readonly severity: Severity
  /** A stable code in upper snake case: `UNKNOWN_KEY`, `TEMPLATE_SYNTAX`. */
  readonly code: string
  /** Names the field and the rule, and never contains a secret. */
  readonly message: string
  readonly place?: Place
  /** The suggested fix. */
  readonly hint?: string
}

/** A mistake at a key of one file, or of a part of it; all paths begin at that part. */
export interface Finding {
  readonly path: Path
  /** Where the finding points. Default: `path`. */
  readonly place?: Path
  /** The part to point at. Default: the value. */
  readonly at?: 'key' | 'value'
  readonly code: string
  /** Completes a sentence that begins with the path. */
  readonly problem?: string
  /** The path that this sentence begins with. Default: `path`. */
  readonly named?: Path
  /** The whole sentence, in place of `problem`. */
  readonly message?: string
  readonly hint?: string
  /** Default: an error, unless the report sets another one. */
  readonly severity?: Severity
}

/** The finding about a key without effect. */
export function noEffect(path: Path, why: string, hint = 'Remove it.'): Finding {
  const problem = `has no effect: ${why}`
  return { path, severity: 'warning', at: 'key', code: 'UNUSED_FIELD', problem, hint }
}

/** The finding about a key that another of the same map excludes. `problem` completes a sentence about the map. */
export function duplicateField(path: Path, problem: string, hint: string): Finding {
  return { path, named: path.slice(0, -1), at: 'key', code: 'DUPLICATE_FIELD', problem, hint }
}

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
