/** Knows this process's worker pools and their open claims. Changes of a transaction are made here once it has committed. */

import { type ClaimedTask, StoreError, type TaskKind, type Work, type WorkOptions } from '../port.ts'
import type { Offer } from './claiming.ts'
import { claimedTask, type LeaseToken, leaseName, type TaskRow } from './tasks.ts'

export interface ClaimName {
  readonly workerPool: number
  readonly claim: number
}

/** A claim with what its task works with. If that could not be read, the holder's own load says why. */
export interface LoadedClaim extends ClaimName {
  readonly task: ClaimedTask
  readonly work?: Work
}

interface WorkerPool {
  readonly kinds: readonly TaskKind[]
  readonly isOwned: boolean
  concurrency: number
  limits: ReadonlyMap<string, number>
  isPaused: boolean
}

export interface OpenClaim extends ClaimName {
  readonly token: LeaseToken
  readonly task: ClaimedTask
  /** When its lease was given or renewed, or a little before, by `performance.now()`. */
  readonly leasedAt: number
}

export type Claims = ReturnType<typeof createClaims>

export function createClaims() {
  const open = new Map<number, OpenClaim>()
  return { ...createWorkerPools(open), ...createOpenClaims(open) }
}

type OpenClaims = Map<number, OpenClaim>

/** The worker pools of this process, which have room while fewer of their claims are open than they may have. */
function createWorkerPools(open: OpenClaims) {
  const workerPools = new Map<number, WorkerPool>()

  function openOf(workerPool: number): number {
    let count = 0
    for (const claim of open.values()) if (claim.workerPool === workerPool) count += 1
    return count
  }

  return {
    register(
      id: number,
      {
        kinds,
        concurrency,
        pools = {},
        owned = false,
      }: Pick<WorkOptions, 'kinds' | 'concurrency' | 'pools' | 'owned'>,
    ) {
      const limits = new Map(Object.entries(pools))
      workerPools.set(id, { kinds, isOwned: owned, concurrency, limits, isPaused: false })
    },

    /**
     * A pool keeps the claims it holds, even if they are more than the new limit. Without `pools` their limits stay. Returns whether
     * there may be room for more.
     */
    resize(id: number, concurrency: number, pools?: WorkOptions['pools']): boolean {
      const workerPool = workerPools.get(id)
      if (workerPool === undefined) return false
      const grows = concurrency > workerPool.concurrency || pools !== undefined
      workerPool.concurrency = concurrency
      if (pools !== undefined) workerPool.limits = new Map(Object.entries(pools))
      return grows
    },

    /** Makes no further claims for the pool. */
    pause(id: number) {
      const workerPool = workerPools.get(id)
      if (workerPool !== undefined) workerPool.isPaused = true
    },

    /** Returns the worker pools with room for further claims. `settled` are claims that the transaction settles. */
    offers(settled: readonly number[] = []): Offer[] {
      return [...workerPools].flatMap(([workerPool, { kinds, isOwned, concurrency, limits, isPaused }]) => {
        const freed = settled.filter((claim) => open.get(claim)?.workerPool === workerPool).length
        const free = concurrency - openOf(workerPool) + freed
        return isPaused || free <= 0 ? [] : { workerPool, kinds, free, limits, isOwned }
      })
    },

    /** The kinds of tasks that are claimed here. */
    kinds: (): readonly TaskKind[] => [
      ...new Set([...workerPools.values()].flatMap(({ kinds, isPaused }) => (isPaused ? [] : kinds))),
    ],
  }
}

function createOpenClaims(open: OpenClaims) {
  const cancelled = new Set<string>()
  let last = 0
  return {
    /** Notes a task that was claimed for a worker pool. */
    take(workerPool: number, row: TaskRow, leasedAt: number): OpenClaim {
      last += 1
      const token = { sequence: row.sequence, claims: row.claims, key: row.key }
      const claim = { workerPool, claim: last, token, task: claimedTask(row), leasedAt }
      open.set(last, claim)
      return claim
    },

    /** @throws StoreError `LEASE_LOST` */
    find(claim: number): OpenClaim {
      const found = open.get(claim)
      if (found === undefined)
        throw new StoreError('LEASE_LOST', 'the claim was settled before, or taken back')
      return found
    },
    get: (claim: number): OpenClaim | undefined => open.get(claim),
    isOpen: (claim: number): boolean => open.has(claim),
    all: (): readonly OpenClaim[] => [...open.values()],

    /** Notes that the lease of an open claim was renewed. */
    renew(claim: number, leasedAt: number) {
      const found = open.get(claim)
      if (found !== undefined) open.set(claim, { ...found, leasedAt })
    },

    /** Forgets claims that were settled or lost, and that they were cancelled: SQLite gives the number of a task again. */
    end(claims: readonly number[]) {
      for (const claim of claims) {
        const ended = open.get(claim)
        open.delete(claim)
        if (ended !== undefined) cancelled.delete(leaseName(ended.token))
      }
    },

    /** Earlier claims of the tasks of these, which have been lost. */
    replacedBy: (given: readonly OpenClaim[]): readonly OpenClaim[] =>
      [...open.values()].filter((before) =>
        given.some(({ claim, task }) => claim > before.claim && task.key === before.task.key),
      ),

    /** Notes leases, by name, whose runs were cancelled. Returns the open claims of them: others may be known only later. */
    cancel(names: readonly string[]): readonly OpenClaim[] {
      for (const name of names) cancelled.add(name)
      return [...open.values()].filter(({ token }) => names.includes(leaseName(token)))
    },
    isCancelled: ({ token }: OpenClaim): boolean => cancelled.has(leaseName(token)),
    /** Called once every cancelled claim knows of it. */
    forgetCancelled: () => cancelled.clear(),
  }
}
