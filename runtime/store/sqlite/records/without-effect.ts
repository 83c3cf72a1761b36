/**
 * Bounds how many requests without effect are stored, and how many bytes of their bodies. A sender can send such requests
 * without end, and `keepMs` bounds only what comes slowly.
 */

import type { DatabaseSync } from 'node:sqlite'
import type { Parts } from '../parts.ts'
import { bytesInRow, type Counters, type OutcomeWithoutEffect, outcomesWithoutEffect } from './counters.ts'

/** About 60 MB for each outcome, without bodies. */
const mostByDefault = 100_000
/** For all outcomes together, with the headers that are stored beside the bodies. */
const mostBodyBytesByDefault = 1024 ** 3

/** Returns a function that counts a request that was just written, and deletes the oldest ones over the bounds. */
export function createWithoutEffect(
  db: DatabaseSync,
  counters: Counters,
  { mostWithoutEffect = mostByDefault, mostBodyBytes = mostBodyBytesByDefault }: Parts['limits'],
) {
  // Two go for each one that comes, so that a surplus shrinks. The second condition makes SQLite use the partial index.
  const removeOldest = db.prepare(
    `DELETE FROM requests WHERE place IN
      (SELECT place FROM requests WHERE outcome = ? AND outcome <> 'accepted' ORDER BY place LIMIT min(2, ?))
      RETURNING ${bytesInRow} AS bytes`,
  )
  const oldestBody = db.prepare(
    `SELECT place, ${bytesInRow} AS bytes FROM requests
      WHERE body IS NOT NULL AND outcome <> 'accepted' ORDER BY place LIMIT 1`,
  )
  const dropBody = db.prepare('UPDATE requests SET body = NULL, head = NULL WHERE place = ?')

  /** One large body may need the room of a thousand small ones. */
  function dropBodies(): void {
    while (counters.bodyBytes > mostBodyBytes) {
      const oldest = oldestBody.get() as { place: number; bytes: number } | undefined
      if (oldest === undefined) return
      dropBody.run(oldest.place)
      counters.bodyBytes -= oldest.bytes
    }
  }

  return (outcome: string, bytes: number) => {
    if (!countWithoutEffect(counters, outcome, bytes, 1)) return
    const surplus = counters[outcome] - mostWithoutEffect
    if (surplus > 0) {
      for (const row of removeOldest.all(outcome, surplus))
        countWithoutEffect(counters, outcome, Number(row['bytes']), -1)
    }
    dropBodies()
  }
}

/**
 * Counts a request that was written (`by` is 1) or deleted, if it is one without effect, and returns whether it is. `bytes`
 * counts its body and its head.
 */
export function countWithoutEffect(
  counters: Counters,
  outcome: string,
  bytes: number,
  by: 1 | -1,
): outcome is OutcomeWithoutEffect {
  const known = outcomesWithoutEffect.find((each) => each === outcome)
  if (known === undefined) return false
  counters[known] += by
  counters.bodyBytes += by * bytes
  return true
}
