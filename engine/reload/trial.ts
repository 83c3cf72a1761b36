/** Owns what a look at a candidate is given: it and what serves, side by side. */

import type { Snapshot } from '../compile/snapshot.ts'

export interface TrialSides {
  readonly live: Snapshot
  readonly candidate: Snapshot
  /** Whether somebody waits who wants more than a look: what was seen so far has to do. */
  isGivenUp(): boolean
}

export type Trial<Seen> = (sides: TrialSides) => Promise<Seen>
