/**
 * Owns who may perform what: the workforces, their open claims, and the fence that refuses stale ones.
 *
 * What a transaction claims and settles is a draft until `commit`; `undo` forgets it.
 */

import { StoreError, type TaskKind, type WorkOptions } from '../port.ts'
import type { RoomIn } from './alarms.ts'
import type { ClaimName, GivenClaim } from './protocol.ts'
import type { Schedule } from './schedule.ts'

export interface Claims {
  hire(workforce: Pick<WorkOptions, 'kinds' | 'concurrency' | 'pools'> & { readonly id: number }): void
  /** What it holds it keeps, be that more than it may hold from now on. Without `pools` theirs stay as they are. */
  resize(id: number, concurrency: number, pools?: WorkOptions['pools']): void
  /** Gives it nothing more. */
  rest(id: number): void
  /** Claims what is due, as far as hands are free. */
  claimDue(schedule: Schedule, now: number): void
  /** When a task is due that somebody could perform; Infinity for never. */
  earliest(schedule: Schedule): number
  /** @throws StoreError `LEASE_LOST` */
  fence(claim: number): GivenClaim
  settle(claim: number): void
  /** Who holds the task is to hear that its run was cancelled. */
  cancel(task: string): void
  isCancelled(claim: number): boolean
  /** Answers the claims that are given from now on, and those whose holders are to be told of a cancel. */
  commit(): { readonly given: GivenClaim[]; readonly cancelled: ClaimName[] }
  undo(): void
  /**
   * Brings claims in memory and on disk together: at open, when none is in memory, and after an outcome that
   * stayed unknown for a while. What nobody holds is armed again; who holds what was settled has lost it.
   */
  recover(schedule: Schedule): void
}

interface Workforce {
  readonly id: number
  readonly kinds: readonly TaskKind[]
  concurrency: number
  /** How many of a pool it may hold; one that is not here is not limited. */
  limits: ReadonlyMap<string, number>
  resting: boolean
  /** Claims that are open, the draft included: in all, and of each pool. */
  open: number
  readonly openIn: Map<string, number>
}

interface OpenClaim {
  readonly workforce: Workforce
  readonly given: GivenClaim
  isCancelled: boolean
}

export function createClaims(): Claims {
  const workforces: Workforce[] = []
  const open = new Map<number, OpenClaim>()
  const settled = new Map<number, OpenClaim>()
  let taken: OpenClaim[] = []
  let cancelled: OpenClaim[] = []
  let last = 0

  function find(claim: number): OpenClaim {
    const found = settled.has(claim) ? undefined : open.get(claim)
    if (found === undefined) {
      throw new StoreError('LEASE_LOST', 'the claim was settled before, or taken back')
    }
    return found
  }

  /** One open claim more, or one less. */
  function count({ workforce, given }: OpenClaim, by: 1 | -1): void {
    const { pool } = given.task
    workforce.open += by
    if (pool !== undefined) workforce.openIn.set(pool, (workforce.openIn.get(pool) ?? 0) + by)
  }

  function forgetDraft(): void {
    settled.clear()
    taken = []
    cancelled = []
  }

  return {
    hire({ id, kinds, concurrency, pools }) {
      if (workforces.some((workforce) => workforce.id === id)) return
      const limits = limitsOf(pools)
      workforces.push({ id, kinds, concurrency, limits, resting: false, open: 0, openIn: new Map() })
    },

    resize(id, concurrency, pools) {
      for (const workforce of workforces) {
        if (workforce.id !== id) continue
        workforce.concurrency = concurrency
        if (pools !== undefined) workforce.limits = limitsOf(pools)
      }
    },

    rest(id) {
      for (const workforce of workforces) if (workforce.id === id) workforce.resting = true
    },

    claimDue(schedule, now) {
      for (const workforce of workforces) {
        const free = workforce.concurrency - workforce.open
        if (workforce.resting || free <= 0) continue
        for (const key of schedule.due(workforce.kinds, now, free, roomOf(workforce))) {
          last += 1
          const given = { workforce: workforce.id, claim: last, task: schedule.claim(key) }
          const claim = { workforce, given, isCancelled: false }
          taken.push(claim)
          count(claim, 1)
        }
      }
    },

    earliest(schedule) {
      let earliest = Number.POSITIVE_INFINITY
      for (const workforce of workforces) {
        if (workforce.resting || workforce.open >= workforce.concurrency) continue
        const roomIn = roomOf(workforce)
        for (const kind of workforce.kinds) earliest = Math.min(earliest, schedule.earliest(kind, roomIn))
      }
      return earliest
    },

    fence: (claim) => find(claim).given,

    settle(claim) {
      const found = find(claim)
      settled.set(claim, found)
      count(found, -1)
    },

    cancel(task) {
      for (const claim of open.values()) if (claim.given.task.key === task) cancelled.push(claim)
    },

    isCancelled(claim) {
      const found = find(claim)
      return found.isCancelled || cancelled.includes(found)
    },

    commit() {
      for (const claim of settled.keys()) open.delete(claim)
      for (const claim of taken) open.set(claim.given.claim, claim)
      for (const claim of cancelled) claim.isCancelled = true
      const told = {
        given: taken.map((claim) => claim.given),
        cancelled: cancelled.map(({ given: { workforce, claim } }) => ({ workforce, claim })),
      }
      forgetDraft()
      return told
    },

    undo() {
      for (const claim of settled.values()) count(claim, 1)
      for (const claim of taken) count(claim, -1)
      forgetDraft()
    },

    recover(schedule) {
      const held = new Set([...open.values()].map(({ given }) => given.task.key))
      const right = schedule.recover(held)
      for (const [number, claim] of open) {
        if (right.has(claim.given.task.key)) continue
        open.delete(number)
        count(claim, -1)
      }
    },
  }
}

function limitsOf(pools: WorkOptions['pools']): ReadonlyMap<string, number> {
  return new Map(Object.entries(pools ?? {}))
}

function roomOf({ limits, openIn }: Workforce): RoomIn {
  return (pool) => (limits.get(pool) ?? Number.POSITIVE_INFINITY) - (openIn.get(pool) ?? 0)
}
