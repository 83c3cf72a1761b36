/** What the closures of a compiled expression share. */

import type { Scope } from '../../../resolve/scope.ts'

/** One evaluation. */
export interface Frame {
  /** What `$$` stands for. */
  readonly root: unknown
  readonly scope: Scope
  /** The variables that the expression binds itself, by their number. */
  readonly locals: unknown[]
}

/** Evaluates one node. `input` is what names are looked up in. */
export type Evaluate = (input: unknown, frame: Frame) => unknown
