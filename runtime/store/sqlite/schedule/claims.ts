/**
 * Decides which worker pool may perform which task. The number of a claim is its lease token: a number that was settled or
 * taken back is refused.
 *
 * What a transaction claims and settles is pending until `commit`; `undo` forgets it.
 */

import { type ClaimedTask, StoreError, type TaskKind, type WorkOptions } from '../../port.ts'
import type { RoomIn } from './alarms.ts'
import type { Schedule } from './schedule.ts'

export interface ClaimName {
  readonly workerPool: number
  readonly claim: number
}

export interface GivenClaim extends ClaimName {
  readonly task: ClaimedTask
}

export type Claims = ReturnType<typeof createClaims>

interface WorkerPool {
  readonly id: number
  readonly kinds: readonly TaskKind[]
  concurrency: number
  /** How many tasks of each pool it may hold. A pool that is not named is not limited. */
  limits: ReadonlyMap<string, number>
  isPaused: boolean
  /** Open claims, those of the running transaction included: in all, and for each pool. */
  open: number
  readonly openIn: Map<string, number>
}

interface OpenClaim {
  readonly workerPool: WorkerPool
  readonly given: GivenClaim
  isCancelled: boolean
}

export function createClaims() {
  const workerPools = new Map<number, WorkerPool>()
  const open = new Map<number, OpenClaim>()
  const settled = new Map<number, OpenClaim>()
  let taken: OpenClaim[] = []
  let cancelled: OpenClaim[] = []
  let last = 0

  function find(claim: number): OpenClaim {
    const openClaim = settled.has(claim) ? undefined : open.get(claim)
    if (openClaim === undefined) {
      throw new StoreError('LEASE_LOST', 'the claim was settled before, or taken back')
    }
    return openClaim
  }

  /** Counts one open claim more or one less. */
  function count({ workerPool, given }: OpenClaim, by: 1 | -1): void {
    const { pool } = given.task
    workerPool.open += by
    if (pool !== undefined) workerPool.openIn.set(pool, (workerPool.openIn.get(pool) ?? 0) + by)
  }

  function forgetPending(): void {
    settled.clear()
    taken = []
    cancelled = []
  }

  return {
    register(
      id: number,
      { kinds, concurrency, pools }: Pick<WorkOptions, 'kinds' | 'concurrency' | 'pools'>,
    ) {
      const limits = limitsOf(pools)
      workerPools.set(id, { id, kinds, concurrency, limits, isPaused: false, open: 0, openIn: new Map() })
    },

    /** A pool keeps the claims it holds, even if they are more than the new limit. Without `pools` their limits stay. */
    resize(id: number, concurrency: number, pools?: WorkOptions['pools']) {
      const workerPool = workerPools.get(id)
      if (workerPool === undefined) return
      workerPool.concurrency = concurrency
      if (pools !== undefined) workerPool.limits = limitsOf(pools)
    },

    /** Returns the pool no further claims. */
    pause(id: number) {
      const workerPool = workerPools.get(id)
      if (workerPool !== undefined) workerPool.isPaused = true
    },

    /** Claims due tasks, as many as the worker pools have room for. */
    claimDue(schedule: Schedule, now: number) {
      for (const workerPool of workerPools.values()) {
        const free = workerPool.concurrency - workerPool.open
        if (workerPool.isPaused || free <= 0) continue
        for (const key of schedule.due(workerPool.kinds, now, free, roomOf(workerPool))) {
          last += 1
          const given = { workerPool: workerPool.id, claim: last, task: schedule.claim(key) }
          const claim = { workerPool, given, isCancelled: false }
          taken.push(claim)
          count(claim, 1)
        }
      }
    },

    /** When the next task is due that a worker pool has room for; Infinity for never. */
    earliest(schedule: Schedule): number {
      let earliest = Number.POSITIVE_INFINITY
      for (const workerPool of workerPools.values()) {
        if (workerPool.isPaused || workerPool.open >= workerPool.concurrency) continue
        const roomIn = roomOf(workerPool)
        for (const kind of workerPool.kinds) earliest = Math.min(earliest, schedule.earliest(kind, roomIn))
      }
      return earliest
    },

    /** @throws StoreError `LEASE_LOST` */
    verifyLease: (claim: number): GivenClaim => find(claim).given,

    settle(claim: number) {
      const openClaim = find(claim)
      settled.set(claim, openClaim)
      count(openClaim, -1)
    },

    /** Marks the task's claim, so that its holder is notified of the cancel. */
    cancel(task: string) {
      for (const claim of open.values()) if (claim.given.task.key === task) cancelled.push(claim)
    },

    isCancelled(claim: number): boolean {
      const openClaim = find(claim)
      return openClaim.isCancelled || cancelled.includes(openClaim)
    },

    /** Returns the claims that are given from now on, and those whose holders hear of a cancel. */
    commit(): { readonly given: GivenClaim[]; readonly cancelled: ClaimName[] } {
      for (const claim of settled.keys()) open.delete(claim)
      for (const claim of taken) open.set(claim.given.claim, claim)
      for (const claim of cancelled) claim.isCancelled = true
      const report = {
        given: taken.map((claim) => claim.given),
        cancelled: cancelled.map(({ given: { workerPool, claim } }) => ({ workerPool, claim })),
      }
      forgetPending()
      return report
    },

    undo() {
      for (const claim of settled.values()) count(claim, 1)
      for (const claim of taken) count(claim, -1)
      forgetPending()
    },

    /**
     * Reconciles the claims in memory with those on disk: at open, when memory holds none, and after a commit whose outcome
     * stayed unknown. A claim on disk alone is scheduled again; a claim in memory alone was settled, and its lease is lost.
     */
    recover(schedule: Schedule) {
      const held = new Set([...open.values()].map(({ given }) => given.task.key))
      const matching = schedule.recover(held)
      for (const [number, claim] of open) {
        if (matching.has(claim.given.task.key)) continue
        open.delete(number)
        count(claim, -1)
      }
    },
  }
}

function limitsOf(pools: WorkOptions['pools']): ReadonlyMap<string, number> {
  return new Map(Object.entries(pools ?? {}))
}

function roomOf({ limits, openIn }: WorkerPool): RoomIn {
  return (pool) => (limits.get(pool) ?? Number.POSITIVE_INFINITY) - (openIn.get(pool) ?? 0)
}
