/** Claims due tasks for the worker pools of this node, renews their leases, and frees those of nodes that are gone. */

import type { Context } from '../context.ts'
import type { Id, TaskKind } from '../port.ts'
import { decodeString } from '../records/rows.ts'
import { heartbeatTask } from '../task-keys.ts'
import { nameOf, type Place, type Pool } from './places.ts'
import { type LeaseToken, lockLanes, type TaskRow } from './tasks.ts'

/** A worker pool with room for further claims. */
export interface Offer {
  readonly workerPool: number
  readonly kinds: readonly TaskKind[]
  /** Number of claims that it has room for. */
  readonly free: number
  /** Maximum number of tasks of a pool performed at one time, on all nodes. A pool that is not named is not limited. */
  readonly limits: ReadonlyMap<string, number>
  /** True if the tasks of a pool are performed by one node at a time. */
  readonly isOwned: boolean
}

/** The times of leases. Milliseconds. */
export interface LeaseTimes {
  readonly renewMs: number
  readonly expireMs: number
  readonly freshMs: number
}

/** For how long a lease is given: until it is settled, where no other process could take it over. */
const forever = Number.MAX_SAFE_INTEGER

export interface ClaimOptions {
  readonly times: LeaseTimes
  /** The database's clock; see `Driver`. */
  readonly clock: number
}

/** Tasks claimed in a transaction, and places where some are left. */
export interface Claimed {
  readonly claimed: readonly { readonly workerPool: number; readonly row: TaskRow }[]
  readonly left: readonly Place[]
  /** There was room for what is due and was left: another transaction had locked it, perhaps without changing it. */
  readonly isLocked: boolean
}

/** Claims due tasks for all offers, the earliest first. */
export async function claimDue(
  tx: Context,
  offers: readonly Offer[],
  places: readonly Place[],
  options: ClaimOptions,
): Promise<Claimed> {
  const due = places.filter(({ dueAt, isFull }) => dueAt <= tx.now && !isFull)
  // Its task is shared, see `tasks.ts`. Before any row is locked: a command may hold the lane, and wait for a row.
  if (due.some(({ kind }) => kind === 'heartbeat')) await lockLanes(tx, [heartbeatTask(0)])
  const workerPools = new Map<number, number>()
  const results = new Map<Place, OfferResult>()
  for (const offer of offers) {
    const found = await findDue(
      tx,
      offer,
      due.filter(({ kind }) => offer.kinds.includes(kind)),
      options,
    )
    for (const { sequence } of found.tasks) workerPools.set(sequence, offer.workerPool)
    for (const [place, each] of found.asked) results.set(place, each)
  }
  const [rows, ...left] = await Promise.all([
    leaseTasks(tx, [...workerPools.keys()], options),
    ...places.map((place) =>
      results.has(place) && !results.get(place)?.isFull ? firstOf(tx, place) : place,
    ),
  ])
  return {
    claimed: rows.map((row) => ({ workerPool: workerPools.get(row.sequence) as number, row })),
    left: left.flatMap((place, index) => {
      const isFull = results.get(places[index] as Place)?.isFull ?? place?.isFull
      return place === undefined ? [] : { ...place, isFull: isFull === true }
    }),
    isLocked: left.some(
      (place, index) =>
        place !== undefined && place.dueAt <= tx.now && results.get(places[index] as Place)?.isEmptied,
    ),
  }
}

/** Result of an offer in one pool. */
interface OfferResult {
  readonly isFull: boolean
  /** There was room for more than was found. */
  readonly isEmptied: boolean
}

/** Finds due tasks for an offer. */
async function findDue(tx: Context, offer: Offer, places: readonly Place[], options: ClaimOptions) {
  const rooms: number[] = []
  for (const place of places) rooms.push(Math.min(offer.free, await roomIn(tx, place, offer, options)))
  const found = await Promise.all(
    places.map((place, index) => dueTasks(tx, place, Math.max(0, rooms[index] ?? 0))),
  )
  const due = found.flat()
  const tasks = due.toSorted(inOrder).slice(0, offer.free)
  const results = places.map((place, index): [Place, OfferResult] => {
    const [room = 0, count = 0] = [rooms[index], found[index]?.length]
    return [place, { isFull: room <= 0, isEmptied: count < room && tasks.length === due.length }]
  })
  return { tasks, asked: results }
}

async function leaseTasks(
  tx: Context,
  sequences: readonly number[],
  { clock, times }: ClaimOptions,
): Promise<readonly TaskRow[]> {
  if (sequences.length === 0) return []
  const rows = await tx.all<TaskRow>(
    `UPDATE tasks SET leased_by = ?1, leased_until = ?2, state = 'leased', cancelled = 0, claims = claims + 1, waits_again = 0
     WHERE sequence IN ${tx.dialect.among('?3', 'integer')} RETURNING *`,
    [tx.node, tx.isShared ? Math.round(clock + times.expireMs) : forever, sequences],
  )
  return rows.toSorted(inOrder)
}

function inOrder(a: Pick<TaskRow, 'due_at' | 'sequence'>, b: Pick<TaskRow, 'due_at' | 'sequence'>): number {
  return a.due_at - b.due_at || a.sequence - b.sequence
}

/** Finds the pools that have a ready task. It steps from pool to pool, however many tasks wait in each. */
export async function readyPools(tx: Context, kinds: readonly TaskKind[]): Promise<readonly Place[]> {
  return (await Promise.all(kinds.map((kind) => readyPoolsOf(tx, kind)))).flat()
}

async function readyPoolsOf({ all }: Context, kind: TaskKind): Promise<readonly Place[]> {
  const rows = await all<{ pool: string; due_at: number }>(
    `WITH RECURSIVE pools (pool) AS (
       SELECT min(pool) FROM tasks WHERE state = 'ready' AND kind = ?1
       UNION ALL
       SELECT (SELECT min(t.pool) FROM tasks AS t WHERE t.state = 'ready' AND t.kind = ?1 AND t.pool > pools.pool)
       FROM pools WHERE pools.pool IS NOT NULL
     )
     SELECT pool, (SELECT min(t.due_at) FROM tasks AS t WHERE t.state = 'ready' AND t.kind = ?1 AND t.pool = pools.pool) AS due_at
     FROM pools WHERE pool IS NOT NULL`,
    [kind],
  )
  return rows.map(({ pool, due_at: dueAt }) => ({ kind, pool, dueAt, isFull: false }))
}

/** Returns the place of what is left in a pool; undefined if nothing is. */
async function firstOf({ all }: Context, place: Place): Promise<Place | undefined> {
  const [row] = await all<{ due_at: number }>(
    `SELECT due_at FROM tasks WHERE state = 'ready' AND kind = ?1 AND pool = ?2 AND due_at >= ?3 ORDER BY due_at LIMIT 1`,
    [place.kind, place.pool, place.dueAt],
  )
  return row && { ...place, dueAt: row.due_at }
}

/** Returns how many tasks of a pool may be claimed. Of nodes that look at one time, one waits for the other. */
async function roomIn(tx: Context, place: Pool, offer: Offer, options: ClaimOptions): Promise<number> {
  const { kind, pool } = place
  const limit = offer.limits.get(decodeString(pool))
  if (limit === undefined && !offer.isOwned) return Number.POSITIVE_INFINITY
  const name = `pool:${nameOf(place)}`
  await tx.lock([name])
  if (offer.isOwned && !(await takeLease(tx, name, options))) return 0
  if (limit === undefined) return Number.POSITIVE_INFINITY
  const [row] = await tx.all<{ count: number }>(
    `SELECT count(*) AS count FROM tasks
     WHERE state = 'leased' AND kind = ?1 AND pool = ?2 AND leased_until > ?3`,
    [kind, pool, Math.round(options.clock)],
  )
  return limit - Number(row?.count ?? 0)
}

async function dueTasks(
  { all, now, dialect }: Context,
  { kind, pool, dueAt }: Place,
  limit: number,
): Promise<readonly { readonly sequence: number; readonly due_at: number }[]> {
  if (limit === 0) return []
  return await all(
    `SELECT sequence, due_at FROM tasks WHERE state = 'ready' AND kind = ?1 AND pool = ?2 AND due_at >= ?3 AND due_at <= ?4
     ORDER BY due_at, sequence LIMIT ?5 ${dialect.skipLocked}`,
    [kind, pool, dueAt, now, limit],
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
 * Renews the leases of the claims that this node knows, but for those that are being written; a lease whose claim never arrived expires.
 * Returns those that no other node can have taken over, by sequence number: one that was taken over may have come back as another claim.
 */
export async function renewLeases(
  tx: Context,
  sequences: readonly number[],
  { times, clock }: ClaimOptions,
): Promise<ReadonlyMap<number, Lease>> {
  const rows = await tx.all<LeaseToken & { readonly leased_until: number }>(
    `SELECT sequence, claims, key, leased_until FROM tasks
     WHERE state = 'leased' AND leased_by = ?1 AND sequence IN ${tx.dialect.among('?2', 'integer')}`,
    [tx.node, sequences],
  )
  const renewed = await tx.all<{ sequence: number }>(
    `UPDATE tasks SET leased_until = ?1 WHERE sequence IN
     (SELECT sequence FROM tasks WHERE state = 'leased' AND leased_by = ?2 AND sequence IN ${tx.dialect.among('?3', 'integer')}
      ORDER BY sequence ${tx.dialect.skipLocked}) RETURNING sequence`,
    [Math.round(clock + times.expireMs), tx.node, sequences],
  )
  const isRenewed = new Set(renewed.map(({ sequence }) => sequence))
  // A row that is locked and has expired may be being taken over by another node.
  const leases = rows.map((lease) => ({ ...lease, isRenewed: isRenewed.has(lease.sequence) }))
  const held = leases.filter((lease) => lease.isRenewed || lease.leased_until > clock)
  return new Map(held.map((lease) => [lease.sequence, lease]))
}

/** Waits for the row of a lease, and renews it. Returns whether this node still has it. */
export async function renewLease(
  { run, node }: Context,
  { sequence, claims }: LeaseToken,
  { times, clock }: ClaimOptions,
): Promise<boolean> {
  const sql = 'UPDATE tasks SET leased_until = ?1 WHERE sequence = ?2 AND claims = ?3 AND leased_by = ?4'
  return (await run(sql, [Math.round(clock + times.expireMs), sequence, claims, node])) > 0
}

/** Returns when the first lease of another node expires, by the database's clock. */
export async function nextExpiry({ all, node }: Context): Promise<number> {
  const [row] = await all<{ at: number | null }>(
    `SELECT min(at) AS at FROM (SELECT min(leased_until) AS at FROM tasks WHERE state = 'leased' AND leased_by <> ?1
     UNION ALL SELECT min(until) FROM leases WHERE owner <> ?1 AND name LIKE 'lead:%') AS expiries`,
    [node],
  )
  return row?.at ?? Number.POSITIVE_INFINITY
}

/** Gives up the pools that this node performs alone, so that others go on with them. */
export async function giveUpPools(tx: Context): Promise<void> {
  const rows = await tx.all<{ name: string }>(
    `DELETE FROM leases WHERE owner = ?1 AND name LIKE 'pool:%' RETURNING name`,
    [tx.node],
  )
  for (const { name } of rows) {
    const [, kind = '', pool = ''] = /^pool:(\w+):(.*)$/s.exec(name) ?? []
    tx.room({ kind: kind as TaskKind, pool })
  }
}

/** Makes tasks ready again whose leases have expired; where there is no other process, all that another one held. Returns how many each node held. */
export async function freeExpired(tx: Context, clock: number): Promise<ReadonlyMap<Id, number>> {
  const rows = await tx.all<{ sequence: number; leased_by: Id }>(
    `SELECT sequence, leased_by FROM tasks WHERE state = 'leased' AND leased_until <= ?1 ${tx.dialect.skipLocked}`,
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
  const rows = await tx.all<TaskRow>(
    `UPDATE tasks SET leased_by = NULL, leased_until = NULL, state = 'ready', interrupted = 1
     WHERE sequence IN ${tx.dialect.among('?1', 'integer')} RETURNING *`,
    [sequences],
  )
  for (const row of rows) {
    tx.due(row, row.due_at)
    tx.room(row)
  }
}
