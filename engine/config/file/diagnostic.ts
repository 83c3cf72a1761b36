/** Defines the diagnostic, which is one finding about the operator's files with its place and a hint. */

import type { Path } from '../values/path.ts'

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

export interface Diagnostic {
  readonly severity: 'error' | 'warning'
  /** A stable code in upper snake case: `UNKNOWN_KEY`, `TEMPLATE_SYNTAX`. */
  readonly code: string
  /** Names the field and the rule, and never contains a secret. */
  readonly message: string
  readonly place?: Place
  /** The suggested fix. */
  readonly hint?: string
}

/** A mistake at a path of one file. */
export interface Finding {
  readonly path: Path
  /** Whether to point at the key or the value. Default: the value. */
  readonly at?: 'key' | 'value'
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** Default: an error, unless the report sets another one. */
  readonly severity?: 'error' | 'warning'
}
