/** Owns what a look at a candidate is given: it and what serves, side by side. */

import type { Snapshot } from '../compile/snapshot.ts'

export type Trial<Seen> = (sides: { readonly live: Snapshot; readonly candidate: Snapshot }) => Promise<Seen>
