/**
 * Owns how many requests are kept that caused nothing, and how much of their bodies: whoever may send can send such
 * without end, and the time after which they go bounds only what comes slowly.
 */

import type { DatabaseSync } from 'node:sqlite'
import type { Tally } from './tally.ts'

const outcomes = ['ignored', 'skipped', 'duplicate', 'failed'] as const
export type OutcomeWithoutEffect = (typeof outcomes)[number]

/** Some 60 MB of each, bodies aside. */
const mostByDefault = 100_000
/** Of all of them together, with the headers that are kept beside. */
const mostBodyBytesByDefault = 1024 ** 3

export interface Bounds {
  readonly mostWithoutEffect?: number
  readonly mostBodyBytes?: number
}

/** A request that is on disk, or was. `bytes`: of its body and what is kept beside it. */
export interface OnDisk {
  readonly outcome: string
  readonly bytes: number
}

export interface WithoutEffect {
  /** It is on disk. */
  kept(request: OnDisk): void
}

/** SQL: what a request's body and head take. Neither of them is read for it. */
export const bytesInRow = 'coalesce(length(body), 0) + coalesce(octet_length(head), 0)'

export function createWithoutEffect(
  db: DatabaseSync,
  tally: Tally,
  { mostWithoutEffect = mostByDefault, mostBodyBytes = mostBodyBytesByDefault }: Bounds = {},
): WithoutEffect {
  // Two for each that comes, so that too many become fewer. The second condition leads to the partial index.
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

  /** As many as it takes: one large body may stand in the place of a thousand small ones. */
  function dropBodies(): void {
    while (tally.bodyBytes > mostBodyBytes) {
      const oldest = oldestBody.get() as { id: Uint8Array; bytes: number } | undefined
      if (oldest === undefined) return
      dropBody.run(oldest.id)
      tally.bodyBytes -= oldest.bytes
    }
  }

  return {
    kept({ outcome, bytes }) {
      if (!isWithoutEffect(outcome)) return
      tally[outcome] += 1
      tally.bodyBytes += bytes
      const tooMany = tally[outcome] - mostWithoutEffect
      if (tooMany > 0) {
        for (const row of removeOldest.all(outcome, tooMany))
          forgetOne(tally, { outcome, bytes: Number(row['bytes']) })
      }
      dropBodies()
    },
  }
}

/** It is on disk no more. */
export function forgetOne(tally: Tally, { outcome, bytes }: OnDisk): void {
  if (!isWithoutEffect(outcome)) return
  tally[outcome] -= 1
  tally.bodyBytes -= bytes
}

function isWithoutEffect(outcome: string): outcome is OutcomeWithoutEffect {
  return (outcomes as readonly string[]).includes(outcome)
}
