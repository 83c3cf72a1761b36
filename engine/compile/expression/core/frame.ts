/** Defines what the closures of a compiled expression share. */

import type { Scope } from '../../../resolve/scope.ts'

/** The state of one evaluation. */
export interface Frame {
  /** The value of `$$`. */
  readonly root: unknown
  readonly scope: Scope
}

/** Evaluates one node. Names are looked up in `input`. */
export type Evaluate = (input: unknown, frame: Frame) => unknown
