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
interface DuePool {
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

/** What was claimed in a transaction, and what is left. */
export interface Claimed {
  readonly claimed: readonly { readonly workerPool: number; readonly row: TaskRow }[]
  /** When the next task is due that is not due yet; Infinity for never. */
  readonly nextAt: number
  /** What is due was left: its pool is full, or another node claims it. It is looked at again when a claim settles. */
  readonly isFull: boolean
  /** There was room for what is due and was left: another transaction had locked it, perhaps without changing it. */
  readonly isLocked: boolean
}

/** Claims due tasks for all offers, the earliest first. What does not depend on an answer is sent together. */
export async function claimDue(
  tx: Context,
  offers: readonly Offer[],
  kinds: readonly TaskKind[],
  options: ClaimOptions,
): Promise<Claimed> {
  const pools = await readyPools(tx, kinds)
  const workerPools = new Map<number, number>()
  const emptied = new Set<string>()
  for (const offer of offers) {
    const due = pools.filter(({ kind, due_at }) => due_at <= tx.now && offer.kinds.includes(kind))
    const found = await findDue(tx, offer, due, options)
    for (const { sequence } of found.tasks) workerPools.set(sequence, offer.workerPool)
    for (const name of found.emptied) emptied.add(name)
  }
  const [rows, left] = await Promise.all([
    leaseTasks(tx, [...workerPools.keys()], options),
    pools.some(({ due_at }) => due_at <= tx.now) ? readyPools(tx, kinds) : pools,
  ])
  const overdue = left.filter(({ due_at }) => due_at <= tx.now)
  return {
    claimed: rows.map((row) => ({ workerPool: workerPools.get(row.sequence) as number, row })),
    nextAt: Math.min(...left.map(({ due_at }) => (due_at > tx.now ? due_at : Number.POSITIVE_INFINITY))),
    isFull: overdue.length > 0,
    isLocked: overdue.some((pool) => emptied.has(nameOf(pool))),
  }
}

const nameOf = ({ kind, pool }: DuePool): string => `pool:${kind}:${pool}`

/** Finds due tasks for an offer. `emptied` are pools in which there was room for more than was found. */
async function findDue(tx: Context, offer: Offer, pools: readonly DuePool[], options: ClaimOptions) {
  const emptied: string[] = []
  const due: { readonly sequence: number; readonly due_at: number }[] = []
  // Its task is shared; see `tasks.ts`.
  if (pools.some(({ kind }) => kind === 'heartbeat')) await tx.lock(['kind:heartbeat'])
  for (const pool of pools) {
    const room = Math.min(offer.free, await roomIn(tx, pool, offer, options))
    const found = room > 0 ? await dueTasks(tx, pool, room) : []
    due.push(...found)
    if (found.length < room) emptied.push(nameOf(pool))
  }
  const tasks = due.toSorted(inOrder).slice(0, offer.free)
  return { tasks, emptied: tasks.length === due.length ? emptied : [] }
}

async function leaseTasks(
  tx: Context,
  sequences: readonly number[],
  { clock, times }: ClaimOptions,
): Promise<readonly TaskRow[]> {
  if (sequences.length === 0) return []
  const rows = await tx.all<TaskRow>(
    `UPDATE tasks SET leased_by = ?1, leased_until = ?2, ready = 0, cancelled = 0, claims = claims + 1, waits_again = 0
     WHERE sequence IN ${tx.dialect.among('?3', 'integer')} RETURNING *`,
    [tx.node, tx.isShared ? Math.round(clock + times.expireMs) : forever, sequences],
  )
  return rows.toSorted(inOrder)
}

function inOrder(a: Pick<TaskRow, 'due_at' | 'sequence'>, b: Pick<TaskRow, 'due_at' | 'sequence'>): number {
  return a.due_at - b.due_at || a.sequence - b.sequence
}

/** Returns the pools that have a ready task, with the time of the first one. It steps from pool to pool, however many tasks wait in each. */
async function readyPools(tx: Context, kinds: readonly TaskKind[]): Promise<readonly DuePool[]> {
  return (await Promise.all(kinds.map((kind) => readyPoolsOf(tx, kind)))).flat()
}

async function readyPoolsOf({ all }: Context, kind: TaskKind): Promise<readonly DuePool[]> {
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
async function roomIn(tx: Context, duePool: DuePool, offer: Offer, options: ClaimOptions): Promise<number> {
  const { kind, pool } = duePool
  const limit = offer.limits.get(decodeString(pool))
  if (limit === undefined && !offer.isOwned) return Number.POSITIVE_INFINITY
  const name = nameOf(duePool)
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

/** A lease of this node. */
export interface Lease extends LeaseToken {
  /** False for one whose row another transaction had locked. */
  readonly isRenewed: boolean
}

/**
 * Renews the leases of this node's claims, but for those that are being written. Returns those that no other node can have taken over, by
 * sequence number: one that was taken over may have come back as another claim.
 */
export async function renewLeases(
  tx: Context,
  { times, clock }: ClaimOptions,
): Promise<ReadonlyMap<number, Lease>> {
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
  const leases = rows.map((lease) => ({ ...lease, isRenewed: isRenewed.has(lease.sequence) }))
  const held = leases.filter((lease) => lease.isRenewed || lease.leased_until > clock)
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
