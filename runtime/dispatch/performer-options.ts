/** The options of a performer: those of its host, and what all performers of one process share. */

import type { Budgets } from './budget.ts'
import type { DispatchOptions } from './options.ts'

export interface PerformerOptions extends DispatchOptions {
  /** Aborted when the drain's grace is over. */
  readonly stopping: AbortSignal
  readonly budgets: Budgets
}
