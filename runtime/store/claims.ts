/**
 * Decides which worker pool may perform which task. The number of a claim is its lease token: a number that was settled or
 * taken back is refused.
 *
 * What a transaction claims and settles is pending until `commit`; `undo` forgets it.
 */

import { type ClaimedTask, StoreError, type TaskKind, type WorkOptions } from './port.ts'

/** Returns how many tasks of a pool may be claimed now; 0 or less for none. */
export type RoomIn = (pool: string) => number

export interface ClaimName {
  readonly workerPool: number
  readonly claim: number
}

export interface GivenClaim extends ClaimName {
  readonly task: ClaimedTask
}

export type Claims = ReturnType<typeof createClaims>

/** A worker pool with room for further claims. */
export interface Offer {
  readonly workerPool: number
  readonly kinds: readonly TaskKind[]
  /** How many claims it has room for. */
  readonly free: number
  readonly roomIn: RoomIn
  /** The limit of a pool; Infinity for none. */
  limitOf(pool: string): number
  /** Whether the tasks of a pool are performed by one node at a time. */
  readonly isOwned: boolean
}

interface WorkerPool {
  readonly id: number
  readonly kinds: readonly TaskKind[]
  readonly isOwned: boolean
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
      {
        kinds,
        concurrency,
        pools,
        owned = false,
      }: Pick<WorkOptions, 'kinds' | 'concurrency' | 'pools' | 'owned'>,
    ) {
      const limits = limitsOf(pools)
      workerPools.set(id, {
        id,
        kinds,
        isOwned: owned,
        concurrency,
        limits,
        isPaused: false,
        open: 0,
        openIn: new Map(),
      })
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

    /** Returns the worker pools that have room for further claims. */
    offers(): Offer[] {
      return [...workerPools.values()].flatMap((workerPool) => {
        const { id, kinds, isOwned, concurrency, open, isPaused, limits } = workerPool
        const free = concurrency - open
        if (isPaused || free <= 0) return []
        const limitOf = (pool: string) => limits.get(pool) ?? Number.POSITIVE_INFINITY
        return { workerPool: id, kinds, free, isOwned, limitOf, roomIn: roomOf(workerPool) }
      })
    },

    /** Returns the number that the next claim gets. */
    nextNumber: () => last + 1,

    /** Gives a claimed task to a worker pool. */
    take(id: number, task: ClaimedTask) {
      const workerPool = workerPools.get(id)
      if (workerPool === undefined) throw new Error('a task was claimed for no worker pool')
      last += 1
      const claim = { workerPool, given: { workerPool: id, claim: last, task }, isCancelled: false }
      taken.push(claim)
      count(claim, 1)
    },

    /** Returns an open claim, if it was not settled or taken back. */
    find: (claim: number): GivenClaim | undefined =>
      settled.has(claim) ? undefined : open.get(claim)?.given,

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

    /** The numbers of all open claims. */
    held: (): number[] => [...open.keys()],

    /** Forgets a claim that another node has taken over. Returns whose it was. */
    lose(number: number): ClaimName | undefined {
      const claim = open.get(number)
      if (claim === undefined) return undefined
      open.delete(number)
      count(claim, -1)
      return { workerPool: claim.workerPool.id, claim: number }
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
    recover(schedule: { recover(held: ReadonlySet<string>): ReadonlySet<string> }) {
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
