/**
 * Owns how many requests are kept that caused nothing: whoever may send can send such without end, and the time after
 * which they go bounds only what comes slowly.
 */

import type { DatabaseSync } from 'node:sqlite'
import type { Tally } from './tally.ts'

const outcomes = ['ignored', 'skipped', 'duplicate'] as const
export type OutcomeWithoutEffect = (typeof outcomes)[number]

/** Some 60 MB of each, as long as no bodies are kept with them. */
const mostByDefault = 100_000

export interface WithoutEffect {
  /** A request that ended so is on disk. */
  kept(outcome: string): void
}

export function createWithoutEffect(db: DatabaseSync, tally: Tally, most = mostByDefault): WithoutEffect {
  // Two for each that comes, so that too many become fewer. The second condition leads to the partial index.
  const removeOldest = db.prepare(
    `DELETE FROM requests WHERE id IN
      (SELECT id FROM requests WHERE outcome = ? AND outcome <> 'accepted' ORDER BY id LIMIT min(2, ?))`,
  )
  return {
    kept(outcome) {
      if (!isWithoutEffect(outcome)) return
      tally[outcome] += 1
      const tooMany = tally[outcome] - most
      if (tooMany > 0) tally[outcome] -= Number(removeOldest.run(outcome, tooMany).changes)
    },
  }
}

/** A request that ended so is on disk no more. */
export function forgetOne(tally: Tally, outcome: string): void {
  if (isWithoutEffect(outcome)) tally[outcome] -= 1
}

function isWithoutEffect(outcome: string): outcome is OutcomeWithoutEffect {
  return (outcomes as readonly string[]).includes(outcome)
}
