/** Owns the one mutable cell: which snapshot serves, and its generation. */

import type { Snapshot } from '../compile/snapshot.ts'

export interface Live {
  /** Counts up from 1 within one process. */
  readonly generation: number
  readonly snapshot: Snapshot
}

/** A request calls it once and carries the answer to its end. */
export type CurrentLive = () => Live
