/** Holds the one mutable cell: the live snapshot with its generation. */

import type { Snapshot } from '../compile/snapshot.ts'

export interface Live {
  /** The number of its content; see `GenerationArchive.numberOf`. */
  readonly generation: number
  readonly snapshot: Snapshot
}

/** A request calls this once and uses the result until its end. */
export type CurrentLive = () => Live
