/** Owns what the writer counts in memory, so that no question about it costs a read. Rebuilt at open. */

import type { DatabaseSync } from 'node:sqlite'
import { bytesInRow, type OutcomeWithoutEffect } from './without-effect.ts'

/** By outcome: the requests on disk that caused nothing. */
export interface Tally extends Record<OutcomeWithoutEffect, number> {
  /** What the bodies of those take that are kept, with the headers beside them. */
  bodyBytes: number
  /** Open tasks of the kinds `run` and `delivery`. */
  backlog: number
  /** Pending events, and those of them that asked for `now`. */
  pending: number
  pendingNow: number
  /** The last number that a task was given. */
  sequence: number
  /** Commits over the store's whole life. */
  commits: number
}

export function readTally(db: DatabaseSync): Tally {
  const one = (sql: string) => db.prepare(sql).get() as Record<string, number>
  const pulse = one('SELECT commits, sequence FROM pulse')
  const count = (sql: string) => one(sql)['count'] ?? 0
  // The second condition leads to the partial index.
  const withOutcome = (outcome: OutcomeWithoutEffect) =>
    count(`SELECT count(*) AS count FROM requests WHERE outcome = '${outcome}' AND outcome <> 'accepted'`)
  return {
    backlog: count(`SELECT count(*) AS count FROM tasks WHERE kind IN ('run', 'delivery')`),
    pending: count('SELECT count(*) AS count FROM inbox'),
    pendingNow: count('SELECT count(*) AS count FROM inbox WHERE rank = 0'),
    ignored: withOutcome('ignored'),
    skipped: withOutcome('skipped'),
    duplicate: withOutcome('duplicate'),
    failed: withOutcome('failed'),
    bodyBytes: count(`SELECT coalesce(sum(${bytesInRow}), 0) AS count FROM requests
      WHERE body IS NOT NULL AND outcome <> 'accepted'`),
    sequence: pulse['sequence'] ?? 0,
    commits: pulse['commits'] ?? 0,
  }
}
