/**
 * Claims due tasks for the worker pools of this node.
 *
 * For each kind and pool the place of its first alarm is remembered, or an earlier one: no alarm that could be claimed lies before
 * it. Places are lowered by what this node arms and hears of, and raised only by what a claim has read. So a batch asks the
 * database only where something is due, and an old transaction that keeps dead alarms visible costs nothing, because they lie before.
 */

import type { Claims, Offer, RoomIn } from '../claims.ts'
import type { NewTask, TaskKind, Work } from '../port.ts'
import type { Alarm, Changing } from './parts.ts'
import { textOfColumn } from './rows.ts'
import {
  claim,
  claimedTask,
  type DueAlarm,
  firstAlarms,
  inOrder,
  lockDue,
  newTask,
  type OpenPool,
} from './schedule.ts'

type Place = Pick<Alarm, 'due_at' | 'seq'>

/** A pool whose due tasks another transaction has locked, or that has no room in the cluster, is passed over for this long. */
const restMs = 25
const fullMs = 250

interface Pool {
  readonly kind: TaskKind
  readonly name: string
  place: Place
  /** The first open claim that was counted: none that is open was numbered before it. */
  claimedFrom: number
  /** By the clock of `performance.now`. */
  restsUntil: number
}

export type Agenda = ReturnType<typeof createAgenda>

export function createAgenda(elapsed: () => number = () => performance.now()) {
  const pools = new Map<string, Pool>()
  /** What was armed since the claims of the running transaction began. */
  let recent: Alarm[] | undefined

  function lower({ kind, pool, due_at, seq }: Alarm): void {
    const name = `${kind} ${pool}`
    const known = pools.get(name)
    if (known === undefined)
      pools.set(name, { kind, name: pool, place: { due_at, seq }, claimedFrom: 0, restsUntil: 0 })
    else if (inOrder({ due_at, seq }, known.place) < 0) known.place = { due_at, seq }
  }

  const awake = (pool: Pool) => pool.restsUntil <= elapsed()

  return {
    armed(alarms: readonly Alarm[]) {
      for (const alarm of alarms) lower(alarm)
      recent?.push(...alarms)
    },

    /** Returns the pools with a due task and with room, the one with the earliest alarm first. */
    open(kinds: readonly TaskKind[], now: number, roomIn: RoomIn): OpenPool[] {
      const open: OpenPool[] = []
      for (const pool of pools.values()) {
        if (!kinds.includes(pool.kind) || pool.place.due_at > now || !awake(pool)) continue
        const room = roomIn(pool.name)
        if (room > 0) open.push({ kind: pool.kind, pool: pool.name, from: pool.place, room })
      }
      return open.sort((a, b) => inOrder(a.from, b.from))
    },

    /** Returns when the next task with room in its pool is due; Infinity for never. */
    earliest(kinds: readonly TaskKind[], room: RoomIn): number {
      const roomIn = (pool: string) => room(textOfColumn(pool))
      let earliest = Number.POSITIVE_INFINITY
      for (const pool of pools.values()) {
        const { due_at: dueAt } = pool.place
        if (dueAt < earliest && kinds.includes(pool.kind) && awake(pool) && roomIn(pool.name) > 0)
          earliest = dueAt
      }
      return earliest
    },

    /** Returns in how many milliseconds a pool that rests may be asked again; `undefined` if none rests. */
    restMs(): number | undefined {
      const rests = [...pools.values()].filter((pool) => !awake(pool))
      if (rests.length === 0) return undefined
      // A rest may end between the two looks at the clock, and timers take no negative time.
      return Math.max(0, Math.min(...rests.map(({ restsUntil }) => restsUntil)) - elapsed())
    },

    /** Notes what is armed from now on, until `raise`. */
    begin() {
      recent = []
    },
    /** Sets the places that a claim has read. What was armed since it began may lie before. */
    raise(
      read: readonly {
        readonly kind: TaskKind
        readonly pool: string
        readonly first: Place | undefined
        readonly claimedFrom: number | undefined
        readonly rest: number
      }[],
    ) {
      for (const { kind, pool, first, claimedFrom, rest } of read) {
        const known = pools.get(`${kind} ${pool}`)
        if (known === undefined) continue
        known.place = first ?? { due_at: Number.POSITIVE_INFINITY, seq: 0 }
        if (claimedFrom !== undefined && Number.isFinite(claimedFrom)) known.claimedFrom = claimedFrom
        known.restsUntil = rest === 0 ? 0 : elapsed() + rest
      }
      this.end()
    },
    end() {
      const armed = recent ?? []
      recent = undefined
      for (const alarm of armed) lower(alarm)
    },
    claimedFrom: ({ kind, pool }: OpenPool) => pools.get(`${kind} ${pool}`)?.claimedFrom ?? 0,
    /** Moves all places, because all alarms were moved. */
    shift(ms: number) {
      for (const pool of pools.values()) pool.place = { ...pool.place, due_at: pool.place.due_at - ms }
    },
  }
}

/** Thrown when the row of this node is gone: it has lost all of its claims, and has to join again. */
export class NodeGone extends Error {}

/**
 * Claims due tasks, as many as the worker pools have room for, and loads what they work with. `load` is called as soon as the tasks are
 * known, so that claiming and loading share a round trip.
 */
export async function claimDue(
  tx: Changing,
  agenda: Agenda,
  claims: Claims,
  load: (tasks: readonly NewTask[]) => Promise<Work[]>,
): Promise<Work[]> {
  agenda.begin()
  const asked: (Awaited<ReturnType<typeof openPools>>[number] & { readonly rest: number })[] = []
  const found: (DueAlarm & { readonly workerPool: number; readonly claim: number })[] = []
  let number = claims.nextNumber()
  for (const offer of claims.offers()) {
    const pools = await openPools(tx, agenda, offer)
    const able = pools.filter(({ room }) => room > 0)
    const due = able.length === 0 ? [] : await lockDue(tx, able, tx.now, offer.free)
    for (const alarm of due) found.push({ ...alarm, workerPool: offer.workerPool, claim: number++ })
    for (const pool of pools) {
      const taken = due.filter(({ kind, pool: name }) => kind === pool.kind && name === pool.pool).length
      const isFull = pool.room <= 0
      // Fewer than there is room for: what is due besides is locked by another transaction.
      const isLocked = taken < Math.min(pool.room, offer.free - due.length + taken)
      asked.push({ ...pool, rest: isFull ? fullMs : isLocked ? restMs : 0 })
    }
  }
  if (asked.length === 0) {
    agenda.end()
    return []
  }
  // A node that others have taken for dead must claim nothing: what it claims would never be free again.
  const alive = tx.query('SELECT 1 FROM nodes WHERE id = $1 FOR KEY SHARE', [tx.node])
  const rows = found.length === 0 ? new Map() : claim(tx, tx.node, found)
  const first = firstAlarms(tx, asked)
  const loaded = load(
    found.map((alarm) => newTask({ ...alarm, pool: alarm.pool === '' ? null : alarm.pool })),
  )
  const [[row], claimed, places, works] = await Promise.all([alive, rows, first, loaded])
  if (row === undefined) throw new NodeGone('the other nodes have taken this one for dead')
  const read = asked.map(({ kind, pool, claimedFrom, rest }, index) => {
    const place = places[index]
    const own =
      claimedFrom === undefined
        ? []
        : [...claimed.values()].filter((row) => row.pool === pool && row.kind === kind)
    return {
      kind,
      pool,
      first: place,
      claimedFrom: claimedFrom && Math.min(claimedFrom, ...own.map((row) => row.claimed)),
      rest: place !== undefined && place.due_at <= tx.now ? rest : 0,
    }
  })
  tx.afterCommit(() => agenda.raise(read))
  for (const { workerPool, claim } of found) {
    const task = claimed.get(claim)
    if (task === undefined) throw new Error('a task that was locked is gone')
    claims.take(workerPool, claimedTask(task))
  }
  return works
}

/** Returns the pools that may have a due task, with the room that the cluster leaves them. */
async function openPools(
  tx: Changing,
  agenda: Agenda,
  { kinds, isOwned, ...offer }: Offer,
): Promise<(OpenPool & { readonly claimedFrom?: number })[]> {
  const roomIn = (pool: string) => offer.roomIn(textOfColumn(pool))
  const limitOf = (pool: string) => offer.limitOf(textOfColumn(pool))
  const open = agenda.open(kinds, tx.now, roomIn)
  const shared = isOwned ? open.filter(({ pool }) => pool !== '') : []
  const own = shared.length === 0 ? new Set<string>() : await takePools(tx, shared)
  const allowed = open.map((each) =>
    shared.includes(each) && !own.has(`${each.kind} ${each.pool}`) ? { ...each, room: 0 } : each,
  )
  const limited = allowed.filter(({ pool, room }) => room > 0 && Number.isFinite(limitOf(pool)))
  if (limited.length === 0) return allowed
  const taken = await countClaims(tx, agenda, limited)
  return allowed.map((each) => {
    if (!limited.includes(each)) return each
    const { count = 0, first = Number.POSITIVE_INFINITY } = taken.get(`${each.kind} ${each.pool}`) ?? {}
    return { ...each, room: Math.min(each.room, limitOf(each.pool) - count), claimedFrom: first }
  })
}

/** Makes this node the owner of pools that no living node owns. Returns those that are its own now. */
async function takePools({ query, send, node }: Changing, pools: readonly OpenPool[]): Promise<Set<string>> {
  const sorted = pools.toSorted((a, b) => (`${a.kind} ${a.pool}` < `${b.kind} ${b.pool}` ? -1 : 1))
  const names = [sorted.map(({ kind }) => kind), sorted.map(({ pool }) => pool)]
  // An owner that lives stays: its row is locked, and not written again.
  send(
    `INSERT INTO pool_owners AS o (kind, pool, node) SELECT kind, pool, $3 FROM unnest($1::text[], $2::text[]) AS wanted (kind, pool)
     ON CONFLICT (kind, pool) DO UPDATE SET node = $3 WHERE NOT EXISTS (SELECT 1 FROM nodes AS n WHERE n.id = o.node)`,
    [...names, node],
  )
  const rows = await query<{ kind: TaskKind; pool: string }>(
    `SELECT o.kind, o.pool FROM pool_owners AS o JOIN unnest($1::text[], $2::text[]) AS wanted (kind, pool)
     ON wanted.kind = o.kind AND wanted.pool = o.pool WHERE o.node = $3`,
    [...names, node],
  )
  return new Set(rows.map(({ kind, pool }) => `${kind} ${pool}`))
}

interface OpenClaims {
  readonly count: number
  /** The number of the first one. */
  readonly first: number
}

/**
 * Counts the open claims of pools in the whole cluster. No other node claims in them until this transaction has ended, so claims of a pool are
 * numbered in order, and are counted from the first one on that was open: what is dead before it may be there for as long as an old
 * transaction can see it.
 */
async function countClaims(
  { query, send }: Changing,
  agenda: Agenda,
  pools: readonly OpenPool[],
): Promise<ReadonlyMap<string, OpenClaims>> {
  send(
    `SELECT pg_advisory_xact_lock(hashtextextended('reveille ' || name, 0)) FROM unnest($1::text[]) AS name ORDER BY name`,
    [pools.map(({ kind, pool }) => `${kind} ${pool}`)],
  )
  const rows = await query<OpenClaims & { kind: TaskKind; pool: string }>(
    `SELECT t.kind, t.pool, count(*) AS count, min(t.claimed) AS first
     FROM unnest($1::text[], $2::text[], $3::bigint[]) AS wanted (kind, pool, first) CROSS JOIN nodes AS n
     JOIN tasks AS t ON t.node = n.id AND t.kind = wanted.kind AND t.pool = wanted.pool AND t.claimed >= wanted.first
     GROUP BY t.kind, t.pool`,
    [
      pools.map(({ kind }) => kind),
      pools.map(({ pool }) => pool),
      pools.map((pool) => agenda.claimedFrom(pool)),
    ],
  )
  return new Map(rows.map((row) => [`${row.kind} ${row.pool}`, row]))
}
