/** Reads what a node counts in memory: at open, and again and again while there are other nodes. */

import { outcomesWithoutEffect } from '../counters.ts'
import type { Store } from '../port.ts'
import type { Counted, Query } from './parts.ts'

export type Counters = Record<Counted, number>

/** The second condition makes PostgreSQL use the partial index. */
const rarely = outcomesWithoutEffect.map(
  (outcome) =>
    `(SELECT count(*) FROM requests WHERE outcome = '${outcome}' AND outcome <> 'accepted') AS ${outcome}`,
)

const often = [
  `(SELECT count(*) FROM tasks WHERE kind IN ('run', 'delivery')) AS backlog`,
  '(SELECT count(*) FROM events WHERE pending) AS pending',
  '(SELECT count(*) FROM events WHERE pending AND urgent) AS "pendingNow"',
  '(SELECT coalesce(sum(bytes), 0)::bigint FROM kept_sizes) AS "bodyBytes"',
]

/** Counts everything. */
export async function readCounters(query: Query): Promise<Counters> {
  const [row] = await query<Counters>(`SELECT ${[...often, ...rarely].join(', ')}`)
  return row as Counters
}

/** Counts what callers are refused by, and nothing that takes long. */
export async function readBacklog(query: Query): Promise<Partial<Counters>> {
  const [row] = await query<Partial<Counters>>(`SELECT ${often.join(', ')}`)
  return row ?? {}
}

/** Returns the time of the newest id; 0 for an empty store. */
export async function newestTime(query: Query): Promise<number> {
  const newest = ['requests', 'runs', 'events', 'deliveries'].map(
    (table) => `(SELECT id FROM ${table} ORDER BY id DESC LIMIT 1)`,
  )
  const rows = await query<{ id: string }>(newest.join(' UNION ALL '))
  return Math.max(0, ...rows.map(({ id }) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)))
}

/** Returns whether replay jobs and issues are left that have not ended. */
export async function readLeftOpen(query: Query): Promise<Store['leftOpen']> {
  const [row] = await query<{ jobs: boolean; issues: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 'running') AS jobs,
            EXISTS (SELECT 1 FROM issues WHERE state <> 'resolved') AS issues`,
  )
  return { replayJobs: row?.jobs === true, issues: row?.issues === true }
}
