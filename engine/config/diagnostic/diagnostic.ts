/** A diagnostic is one finding about the operator's files, with its place and its cure. */

import type { Path } from '../path.ts'

export interface Place {
  /** Absolute path. */
  readonly file: string
  /** What is shown instead of the path of a file that is not the operator's: `preset github`. */
  readonly calledFile?: string
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 units. */
  readonly column: number
  /** The text of that line, secrets masked, or a part of a very long one; empty where there is no line to show. */
  readonly text: string
  /** The column within `text`, where masking or cutting moved it. Absent: `column`. */
  readonly caret?: number
}

export interface Diagnostic {
  readonly severity: 'error' | 'warning'
  /** Stable, upper snake case: `UNKNOWN_KEY`, `TEMPLATE_SYNTAX`. */
  readonly code: string
  /** Names the field and the rule. Never holds a secret. */
  readonly message: string
  readonly place?: Place
  /** What to do about it. */
  readonly hint?: string
}

/** Something wrong at a path of one file. */
export interface Finding {
  readonly path: Path
  /** Whether the key or the value is to be pointed at. Default: the value. */
  readonly at?: 'key' | 'value'
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** Default: an error, unless the report says otherwise. */
  readonly severity?: 'error' | 'warning'
}
