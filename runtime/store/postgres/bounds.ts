/**
 * Bounds what requests leave on disk: how many without effect are stored, and how many bytes of bodies, heads and traces. A
 * sender can send such requests without end, and age bounds only what comes slowly.
 */

import type { OutcomeWithoutEffect } from '../counters.ts'
import type { RequestOutcome, StoreLimits } from '../port.ts'
import type { Changing } from './parts.ts'

/** What another node deletes at this moment is passed over. How many go at one time: a large body may need the room of many small ones. */
const mostDropped = 1_000

/** Deletes the oldest requests of an outcome, with what is kept of them. Returns how many are gone. */
export async function dropWithoutEffect(
  { query, counted }: Pick<Changing, 'query' | 'counted'>,
  outcome: OutcomeWithoutEffect,
  surplus: number,
): Promise<number> {
  // With the second condition PostgreSQL uses the partial index.
  const [gone] = await query<{ count: number; bytes: number }>(
    `WITH gone AS (
       DELETE FROM requests WHERE id IN (
         SELECT id FROM requests WHERE outcome = $1 AND outcome <> 'accepted' ORDER BY id LIMIT $2
         FOR UPDATE SKIP LOCKED
       ) RETURNING id
     ), bodies AS (
       DELETE FROM kept WHERE request IN (SELECT id FROM gone) RETURNING bytes
     )
     SELECT (SELECT count(*) FROM gone) AS count, (SELECT coalesce(sum(bytes), 0)::bigint FROM bodies) AS bytes`,
    [outcome, Math.min(surplus, mostDropped)],
  )
  const { count = 0, bytes = 0 } = gone ?? {}
  counted(outcome, -count)
  if (bytes > 0) counted('bodyBytes', -bytes)
  return count
}

/**
 * Deletes the oldest bodies, heads and traces, until so many bytes are free. Their requests stay. Returns how many bytes that were:
 * fewer, if there is nothing left or very many are small.
 */
export async function dropBodies(
  { query, counted }: Pick<Changing, 'query' | 'counted'>,
  surplus: number,
  { ignoredBodiesMs }: Pick<StoreLimits, 'ignoredBodiesMs'>,
): Promise<number> {
  const briefly = ignoredBodiesMs === undefined ? 0 : await dropBriefBodies({ query, counted }, { surplus })
  if (briefly > 0) return briefly
  const gone = await query<{ bytes: number }>(
    `DELETE FROM kept WHERE request IN (
       SELECT k.request FROM (
         SELECT request, sum(bytes) OVER (ORDER BY request) - bytes AS older
         FROM (SELECT request, bytes FROM kept ORDER BY request LIMIT ${mostDropped}) AS oldest
       ) AS summed JOIN kept AS k ON k.request = summed.request WHERE older < $1 FOR UPDATE OF k SKIP LOCKED
     ) RETURNING bytes`,
    [surplus],
  )
  const bytes = gone.reduce((sum, row) => sum + row.bytes, 0)
  if (bytes > 0) counted('bodyBytes', -bytes)
  return bytes
}

/** Whether the body of a request with this outcome may be kept for a shorter time than others. */
export function isBrief(outcome: RequestOutcome): boolean {
  return outcome === 'ignored' || outcome === 'skipped'
}

/** Greater than every id. */
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * Deletes the oldest bodies of ignored and skipped requests, with their heads: those before an id, or until so many bytes are free. Returns
 * how many bytes that were.
 */
export async function dropBriefBodies(
  { query, counted }: Pick<Changing, 'query' | 'counted'>,
  {
    before = lastId,
    surplus = Number.MAX_SAFE_INTEGER,
  }: { readonly before?: string; readonly surplus?: number },
): Promise<number> {
  const gone = await query<{ freed: number }>(
    `WITH gone AS (
       SELECT k.request, k.bytes FROM (
         SELECT request, sum(bytes) OVER (ORDER BY request) - bytes AS older FROM (
           SELECT request, bytes FROM kept WHERE brief AND body IS NOT NULL AND request < $1 ORDER BY request LIMIT ${mostDropped}
         ) AS oldest
       ) AS summed JOIN kept AS k ON k.request = summed.request WHERE older < $2 FOR UPDATE OF k SKIP LOCKED
     )
     UPDATE kept SET body = NULL, head = NULL, bytes = coalesce(octet_length(kept.trace), 0)
     FROM gone WHERE kept.request = gone.request RETURNING gone.bytes - kept.bytes AS freed`,
    [before, surplus],
  )
  const bytes = gone.reduce((sum, { freed }) => sum + freed, 0)
  if (bytes > 0) counted('bodyBytes', -bytes)
  return bytes
}
