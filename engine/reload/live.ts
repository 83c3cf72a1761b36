/** The one mutable cell: which snapshot serves, and its generation. */

import type { Snapshot } from '../compile/snapshot.ts'

export interface Live {
  /** Stands for its content; see `GenerationArchive.numberOf`. */
  readonly generation: number
  readonly snapshot: Snapshot
}

/** A request calls it once and carries the answer to its end. */
export type CurrentLive = () => Live
