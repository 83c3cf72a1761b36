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

/** What the counters need of a stored request. `bytes` counts its body and its head. */
export interface StoredRequest {
  readonly outcome: string
  readonly bytes: number
}

/** Counts a request that was just written, and deletes the oldest ones over the bounds. */
export type CountStored = (request: StoredRequest) => void

export function createWithoutEffect(
  db: DatabaseSync,
  counters: Counters,
  { mostWithoutEffect = mostByDefault, mostBodyBytes = mostBodyBytesByDefault }: Parts['limits'],
): CountStored {
  // Two go for each one that comes, so that a surplus shrinks. The second condition makes SQLite use the partial index.
  const removeOldest = db.prepare(
    `DELETE FROM requests WHERE id IN
      (SELECT id FROM requests WHERE outcome = ? AND outcome <> 'accepted' ORDER BY id LIMIT min(2, ?))
      RETURNING ${bytesInRow} AS bytes`,
  )
  const oldestBody = db.prepare(
    `SELECT id, ${bytesInRow} AS bytes FROM requests
      WHERE body IS NOT NULL AND outcome <> 'accepted' ORDER BY id LIMIT 1`,
  )
  const dropBody = db.prepare('UPDATE requests SET body = NULL, head = NULL WHERE id = ?')

  /** One large body may need the room of a thousand small ones. */
  function dropBodies(): void {
    while (counters.bodyBytes > mostBodyBytes) {
      const oldest = oldestBody.get() as { id: Uint8Array; bytes: number } | undefined
      if (oldest === undefined) return
      dropBody.run(oldest.id)
      counters.bodyBytes -= oldest.bytes
    }
  }

  return ({ outcome, bytes }) => {
    if (!isWithoutEffect(outcome)) return
    counters[outcome] += 1
    counters.bodyBytes += bytes
    const surplus = counters[outcome] - mostWithoutEffect
    if (surplus > 0) {
      for (const row of removeOldest.all(outcome, surplus))
        countRemoved(counters, { outcome, bytes: Number(row['bytes']) })
    }
    dropBodies()
  }
}

/** Counts a request that was deleted. */
export function countRemoved(counters: Counters, { outcome, bytes }: StoredRequest): void {
  if (!isWithoutEffect(outcome)) return
  counters[outcome] -= 1
  counters.bodyBytes -= bytes
}

function isWithoutEffect(outcome: string): outcome is OutcomeWithoutEffect {
  return (outcomesWithoutEffect as readonly string[]).includes(outcome)
}
