/**
 * Bounds the disk space of requests: the number of those without effect, and the bytes of bodies, heads and traces. A sender can
 * send such requests without end, and `keepMs` bounds only slow ones.
 */

import type { Context } from '../context.ts'
import {
  defaultMaxBodyBytes,
  defaultMaxWithoutEffect,
  type OutcomeWithoutEffect,
  withoutEffect,
} from '../counters.ts'
import { idOfTime } from '../id.ts'
import type { Id } from '../port.ts'

/** Maximum number of bodies deleted for one batch of requests: a large one may need the room of many small ones. */
const maxDropped = 1_000

interface Kept {
  readonly id: Id
  readonly kept: number | null
}

/** Counts requests that were just written, and deletes the oldest ones over the bounds. */
export async function dropOverBounds(
  tx: Context,
  requests: readonly { readonly outcome: string; readonly kept: number | null }[],
): Promise<void> {
  const added = new Map<OutcomeWithoutEffect, number>()
  let bytes = 0
  for (const { outcome, kept } of requests) {
    bytes += kept ?? 0
    const counter = withoutEffect(outcome)
    if (counter !== undefined) added.set(counter, (added.get(counter) ?? 0) + 1)
  }
  tx.count('keptBytes', bytes)
  for (const [outcome, count] of added) {
    tx.count(outcome, count)
    const surplus = tx.counters[outcome] - (tx.limits.maxWithoutEffect ?? defaultMaxWithoutEffect)
    // Two go for each one that comes, so that a surplus shrinks.
    if (surplus > 0) await removeOldest(tx, outcome, Math.min(surplus, 2 * count))
  }
  await dropBodies(tx, maxDropped)
}

async function removeOldest(tx: Context, outcome: OutcomeWithoutEffect, limit: number): Promise<void> {
  const rows = await tx.all<Kept>(
    `DELETE FROM requests WHERE id IN (SELECT id FROM requests WHERE outcome = ?1 AND outcome <> 'accepted' ORDER BY id LIMIT ?2)
     RETURNING id, kept`,
    [outcome, limit],
  )
  for (const { kept } of rows) countRemoved(tx, outcome, kept)
}

/** Counts a request that was deleted. */
export function countRemoved(tx: Context, outcome: string, kept: number | null): void {
  const counter = withoutEffect(outcome)
  if (counter !== undefined) tx.count(counter, -1)
  tx.count('keptBytes', -(kept ?? 0))
}

const brief = `body IS NOT NULL AND outcome IN ('ignored', 'skipped')`

/**
 * Deletes the oldest bodies, heads and traces over their limit, at most so many; bodies that are kept for a short while go first.
 * Returns whether more have to go.
 */
export async function dropBodies(tx: Context, max: number): Promise<boolean> {
  const limit = tx.limits.maxBodyBytes ?? defaultMaxBodyBytes
  let left = max
  if (tx.limits.ignoredBodiesMs !== undefined) left -= await dropOver(tx, limit, brief, left, dropBrief)
  left -= await dropOver(tx, limit, 'kept IS NOT NULL', left, dropKept)
  return tx.counters.keptBytes > limit && left <= 0
}

async function dropOver(
  tx: Context,
  limit: number,
  condition: string,
  max: number,
  drop: (tx: Context, requests: readonly Kept[]) => Promise<void>,
): Promise<number> {
  if (tx.counters.keptBytes <= limit || max <= 0) return 0
  const rows = await tx.all<Kept>(`SELECT id, kept FROM requests WHERE ${condition} ORDER BY id LIMIT ?1`, [
    max,
  ])
  const over: Kept[] = []
  let freed = 0
  for (const row of rows) {
    if (tx.counters.keptBytes - freed <= limit) break
    freed += row.kept ?? 0
    over.push(row)
  }
  await drop(tx, over)
  return over.length
}

/** Deletes bodies that were to be kept for a short while, at most so many. Returns whether more of them have to go. */
export async function dropBriefBodies(tx: Context, max: number): Promise<boolean> {
  const { ignoredBodiesMs } = tx.limits
  if (ignoredBodiesMs === undefined) return false
  const rows = await tx.all<Kept>(
    `SELECT id, kept FROM requests WHERE ${brief} AND id < ?1 ORDER BY id LIMIT ?2`,
    [idOfTime(tx.now - ignoredBodiesMs), max],
  )
  await dropBrief(tx, rows)
  return rows.length === max
}

/** Deletes bodies and heads. The traces stay. */
async function dropBrief(tx: Context, requests: readonly Kept[]): Promise<void> {
  if (requests.length === 0) return
  const rows = await tx.all<Kept>(
    `UPDATE requests SET body = NULL, head = NULL, kept = octet_length(trace) WHERE id IN ${tx.dialect.among('?1', 'id')}
     RETURNING id, kept`,
    [requests.map(({ id }) => id)],
  )
  for (const { kept } of requests) tx.count('keptBytes', -(kept ?? 0))
  for (const { kept } of rows) tx.count('keptBytes', kept ?? 0)
}

/** Deletes all that is kept of requests. */
export async function dropKept(tx: Context, requests: readonly Kept[]): Promise<void> {
  if (requests.length === 0) return
  await tx.run(
    `UPDATE requests SET body = NULL, head = NULL, trace = NULL, kept = NULL WHERE id IN ${tx.dialect.among('?1', 'id')}`,
    [requests.map(({ id }) => id)],
  )
  for (const { kept } of requests) tx.count('keptBytes', -(kept ?? 0))
}
