/** Counts in memory what the writer needs all the time, so that no such question costs a read. Read or counted again at open. */

import type { DatabaseSync } from 'node:sqlite'
import type { OutcomeWithoutEffect } from '../../counters.ts'

/** How many requests of each outcome without effect are on disk, and the counts below. */
export interface Counters extends Record<OutcomeWithoutEffect, number> {
  /** How many bytes the kept bodies of all requests take, with the heads and traces beside them. It is on disk, too. */
  bodyBytes: number
  /** Open tasks of the kinds `run` and `delivery`. */
  backlog: number
  /** Pending events. */
  pending: number
  /** Pending events that asked for `now`. */
  pendingNow: number
  /** The last sequence number that a task was given. */
  sequence: number
  /** Commits over the store's whole life: the commit number. */
  commits: number
}

/** SQL for the bytes that a request's body and head take. SQLite reads neither of them for it. */
export const bytesInRow = 'coalesce(length(body), 0) + coalesce(octet_length(head), 0)'

export function readCounters(db: DatabaseSync): Counters {
  const one = (sql: string) => db.prepare(sql).get() as Record<string, number>
  const row = one('SELECT commits, sequence, body_bytes FROM pulse')
  const count = (sql: string) => one(sql)['count'] ?? 0
  // The second condition makes SQLite use the partial index.
  const withOutcome = (outcome: OutcomeWithoutEffect) =>
    count(`SELECT count(*) AS count FROM requests WHERE outcome = '${outcome}' AND outcome <> 'accepted'`)
  return {
    backlog: count(`SELECT count(*) AS count FROM tasks WHERE kind IN ('run', 'delivery')`),
    pending: count('SELECT count(*) AS count FROM events WHERE pending = 1'),
    pendingNow: count('SELECT count(*) AS count FROM events WHERE pending = 1 AND urgency = 0'),
    ignored: withOutcome('ignored'),
    skipped: withOutcome('skipped'),
    duplicate: withOutcome('duplicate'),
    failed: withOutcome('failed'),
    refused: withOutcome('refused'),
    bodyBytes: row['body_bytes'] ?? 0,
    sequence: row['sequence'] ?? 0,
    commits: row['commits'] ?? 0,
  }
}
