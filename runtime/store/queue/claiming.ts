/** Claims due tasks for the worker pools of this node, renews their leases, and frees those of nodes that are gone. */

import type { Context } from '../context.ts'
import type { Id, TaskKind } from '../port.ts'
import { decodeString } from '../records/rows.ts'
import type { LeaseToken, TaskRow } from './tasks.ts'

/** A worker pool with room for further claims. */
export interface Offer {
  readonly workerPool: number
  readonly kinds: readonly TaskKind[]
  /** How many claims it has room for. */
  readonly free: number
  /** How many tasks of a pool are performed at one time, on all nodes. A pool that is not named is not limited. */
  readonly limits: ReadonlyMap<string, number>
  /** Whether the tasks of a pool are performed by one node at a time. */
  readonly isOwned: boolean
}

/** The times of leases. Milliseconds. */
export interface LeaseTimes {
  readonly renewMs: number
  readonly expireMs: number
  readonly holdMs: number
}

/** A pool with a ready task. */
export interface DuePool {
  readonly kind: TaskKind
  /** Encoded. */
  readonly pool: string
  readonly due_at: number
}

/** For how long a lease is given: until it is settled, where no other process could take it over. */
const forever = Number.MAX_SAFE_INTEGER

export interface ClaimOptions {
  readonly times: LeaseTimes
  /** The database's clock; see `Driver`. */
  readonly clock: number
}

/**
 * Claims due tasks, the earliest first, as many as there is room for. `emptied` are pools with room for more than was found: what
 * is still due in them was locked by another transaction.
 */
export async function claimTasks(
  tx: Context,
  offer: Offer,
  options: ClaimOptions,
): Promise<{ readonly rows: readonly TaskRow[]; readonly emptied: readonly DuePool[] }> {
  const emptied: DuePool[] = []
  const due: { readonly sequence: number; readonly due_at: number }[] = []
  for (const kind of offer.kinds) {
    const pools = (await readyPools(tx, kind)).filter(({ due_at }) => due_at <= tx.now)
    // Its task is shared; see `tasks.ts`.
    if (pools.length > 0 && kind === 'heartbeat') await tx.lock([`kind:${kind}`])
    for (const pool of pools) {
      const room = Math.min(offer.free, await roomIn(tx, pool, offer, options))
      const found = room > 0 ? await dueTasks(tx, pool, room) : []
      due.push(...found)
      if (found.length < room) emptied.push(pool)
    }
  }
  const first = due.toSorted(inOrder).slice(0, offer.free)
  const isAll = first.length === due.length
  if (first.length === 0) return { rows: [], emptied }
  const rows = await tx.all<TaskRow>(
    `UPDATE tasks SET leased_by = ?1, leased_until = ?2, ready = 0, cancelled = 0, claims = claims + 1, waits_again = 0
     WHERE sequence IN ${tx.dialect.among('?3', 'integer')} RETURNING *`,
    [
      tx.node,
      tx.isShared ? Math.round(options.clock + options.times.expireMs) : forever,
      first.map(({ sequence }) => sequence),
    ],
  )
  return { rows: rows.toSorted(inOrder), emptied: isAll ? emptied : [] }
}

function inOrder(a: Pick<TaskRow, 'due_at' | 'sequence'>, b: Pick<TaskRow, 'due_at' | 'sequence'>): number {
  return a.due_at - b.due_at || a.sequence - b.sequence
}

/** Returns the pools that have a ready task, with the time of the first one. It steps from pool to pool, however many tasks wait in each. */
async function readyPools({ all }: Pick<Context, 'all'>, kind: TaskKind): Promise<readonly DuePool[]> {
  const rows = await all<{ pool: string; due_at: number }>(
    `WITH RECURSIVE pools (pool) AS (
       SELECT min(pool) FROM tasks WHERE kind = ?1 AND ready = 1
       UNION ALL
       SELECT (SELECT min(t.pool) FROM tasks AS t WHERE t.kind = ?1 AND t.ready = 1 AND t.pool > pools.pool)
       FROM pools WHERE pools.pool IS NOT NULL
     )
     SELECT pool, (SELECT min(t.due_at) FROM tasks AS t WHERE t.kind = ?1 AND t.pool = pools.pool AND t.ready = 1) AS due_at
     FROM pools WHERE pool IS NOT NULL`,
    [kind],
  )
  return rows.map((row) => ({ kind, ...row }))
}

/** Returns how many tasks of a pool may be claimed. Of nodes that look at one time, one waits for the other. */
async function roomIn(
  tx: Context,
  { kind, pool }: DuePool,
  offer: Offer,
  options: ClaimOptions,
): Promise<number> {
  const limit = offer.limits.get(decodeString(pool))
  if (limit === undefined && !offer.isOwned) return Number.POSITIVE_INFINITY
  const name = `pool:${kind}:${pool}`
  await tx.lock([name])
  if (offer.isOwned && !(await takeLease(tx, name, options))) return 0
  if (limit === undefined) return Number.POSITIVE_INFINITY
  const [row] = await tx.all<{ count: number }>(
    'SELECT count(*) AS count FROM tasks WHERE kind = ?1 AND pool = ?2 AND leased_by IS NOT NULL',
    [kind, pool],
  )
  return limit - Number(row?.count ?? 0)
}

function dueTasks(
  tx: Context,
  { kind, pool }: DuePool,
  limit: number,
): Promise<{ readonly sequence: number; readonly due_at: number }[]> {
  return tx.all(
    `SELECT sequence, due_at FROM tasks WHERE kind = ?1 AND pool = ?2 AND ready = 1 AND due_at <= ?3
     ORDER BY due_at, sequence LIMIT ?4 ${tx.dialect.skipLocked}`,
    [kind, pool, tx.now, limit],
  )
}

/**
 * Returns when the next task of these kinds is due; Infinity for never. A pool whose first task is overdue is full, or another node
 * claims it: it is looked at again when a claim settles.
 */
export async function nextDue(
  tx: Context,
  kinds: readonly TaskKind[],
): Promise<{ readonly at: number; readonly overdue: readonly DuePool[] }> {
  let at = Number.POSITIVE_INFINITY
  const overdue: DuePool[] = []
  for (const kind of kinds) {
    for (const pool of await readyPools(tx, kind)) {
      if (pool.due_at > tx.now) at = Math.min(at, pool.due_at)
      else overdue.push(pool)
    }
  }
  return { at, overdue }
}

/** Takes a lease by name, or renews it. Returns whether this node has it. */
export async function takeLease(tx: Context, name: string, { times, clock }: ClaimOptions): Promise<boolean> {
  if (!tx.isShared) return true
  const rows = await tx.all(
    `INSERT INTO leases (name, owner, until) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE
     SET owner = excluded.owner, until = excluded.until WHERE leases.owner = excluded.owner OR leases.until <= ?4 RETURNING name`,
    [name, tx.node, Math.round(clock + times.expireMs), Math.round(clock)],
  )
  return rows.length > 0
}

export async function giveUpLease(tx: Pick<Context, 'run' | 'node'>, name: string): Promise<void> {
  await tx.run('DELETE FROM leases WHERE name = ?1 AND owner = ?2', [name, tx.node])
}

/**
 * Renews the leases of this node's claims, but for those that are being settled. Returns those that no other node can have taken over, by
 * sequence number: one that was taken over may have come back as another claim.
 */
export async function renewLeases(
  tx: Context,
  { times, clock }: ClaimOptions,
): Promise<ReadonlyMap<number, LeaseToken>> {
  const rows = await tx.all<LeaseToken & { readonly leased_until: number }>(
    'SELECT sequence, claims, key, leased_until FROM tasks WHERE leased_by = ?1',
    [tx.node],
  )
  const renewed = await tx.all<{ sequence: number }>(
    `UPDATE tasks SET leased_until = ?1 WHERE sequence IN
     (SELECT sequence FROM tasks WHERE leased_by = ?2 ORDER BY sequence ${tx.dialect.skipLocked}) RETURNING sequence`,
    [Math.round(clock + times.expireMs), tx.node],
  )
  const isRenewed = new Set(renewed.map(({ sequence }) => sequence))
  // What is locked and has expired may be what another node takes over.
  const held = rows.filter(({ sequence, leased_until }) => isRenewed.has(sequence) || leased_until > clock)
  return new Map(held.map((lease) => [lease.sequence, lease]))
}

/** Returns when the first lease of another node expires, by the database's clock. */
export async function nextExpiry({ all, node }: Context): Promise<number> {
  const [row] = await all<{ at: number | null }>(
    `SELECT min(at) AS at FROM (SELECT min(leased_until) AS at FROM tasks WHERE leased_by IS NOT NULL AND leased_by <> ?1
     UNION ALL SELECT min(until) FROM leases WHERE owner <> ?1 AND name LIKE 'lead:%') AS expiries`,
    [node],
  )
  return row?.at ?? Number.POSITIVE_INFINITY
}

/** Gives up the pools that this node performs alone, so that others go on with them. */
export async function giveUpPools(tx: Context): Promise<void> {
  if ((await tx.run(`DELETE FROM leases WHERE owner = ?1 AND name LIKE 'pool:%'`, [tx.node])) > 0)
    tx.due(tx.now)
}

/** Makes tasks ready again whose leases have expired; where there is no other process, all that another one held. Returns how many each node held. */
export async function freeExpired(tx: Context, clock: number): Promise<ReadonlyMap<Id, number>> {
  const rows = await tx.all<{ sequence: number; leased_by: Id }>(
    `SELECT sequence, leased_by FROM tasks WHERE leased_by IS NOT NULL AND leased_until <= ?1 ${tx.dialect.skipLocked}`,
    [tx.isShared ? Math.round(clock) : forever],
  )
  const expired = rows.filter(({ leased_by }) => tx.isShared || leased_by !== tx.node)
  await freeTasks(
    tx,
    expired.map(({ sequence }) => sequence),
  )
  const held = new Map<Id, number>()
  for (const { leased_by } of expired) held.set(leased_by, (held.get(leased_by) ?? 0) + 1)
  return held
}

/** Makes tasks ready again whose claims did not settle. */
export async function freeTasks(tx: Context, sequences: readonly number[]): Promise<void> {
  if (sequences.length === 0) return
  await tx.run(
    `UPDATE tasks SET leased_by = NULL, leased_until = NULL, ready = 1, interrupted = 1
     WHERE sequence IN ${tx.dialect.among('?1', 'integer')}`,
    [sequences],
  )
  tx.due(tx.now)
}
