/**
 * Owns who may perform what: the workforces, their open claims, and the fence that refuses stale ones.
 *
 * What a transaction claims and settles is a draft until `commit`; `undo` forgets it.
 */

import { StoreError, type TaskKind } from '../port.ts'
import type { GivenClaim } from './protocol.ts'
import type { Schedule } from './schedule.ts'

export interface Claims {
  hire(workforce: Pick<Workforce, 'id' | 'kinds' | 'concurrency'>): void
  /** What it holds it keeps, be that more than it may hold from now on. */
  resize(id: number, concurrency: number): void
  /** Gives it nothing more. */
  rest(id: number): void
  /** Claims what is due, as far as hands are free. */
  claimDue(schedule: Schedule, now: number): void
  /** When a task is due that somebody could perform; Infinity for never. */
  earliest(schedule: Schedule): number
  /** @throws StoreError `LEASE_LOST` */
  fence(claim: number): GivenClaim
  settle(claim: number): void
  /** Answers the claims that are given from now on. */
  commit(): GivenClaim[]
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
  resting: boolean
  /** Claims that are open, the draft included. */
  open: number
}

interface OpenClaim {
  readonly workforce: Workforce
  readonly given: GivenClaim
}

export function createClaims(): Claims {
  const workforces: Workforce[] = []
  const open = new Map<number, OpenClaim>()
  const settled = new Map<number, OpenClaim>()
  let taken: OpenClaim[] = []
  let last = 0

  function find(claim: number): OpenClaim {
    const found = settled.has(claim) ? undefined : open.get(claim)
    if (found === undefined) {
      throw new StoreError('LEASE_LOST', 'the claim was settled before, or taken back')
    }
    return found
  }

  return {
    hire({ id, kinds, concurrency }) {
      if (workforces.some((workforce) => workforce.id === id)) return
      workforces.push({ id, kinds, concurrency, resting: false, open: 0 })
    },

    resize(id, concurrency) {
      for (const workforce of workforces) if (workforce.id === id) workforce.concurrency = concurrency
    },

    rest(id) {
      for (const workforce of workforces) if (workforce.id === id) workforce.resting = true
    },

    claimDue(schedule, now) {
      for (const workforce of workforces) {
        const free = workforce.concurrency - workforce.open
        if (workforce.resting || free <= 0) continue
        for (const key of schedule.due(workforce.kinds, now, free)) {
          last += 1
          taken.push({
            workforce,
            given: { workforce: workforce.id, claim: last, task: schedule.claim(key) },
          })
          workforce.open += 1
        }
      }
    },

    earliest(schedule) {
      let earliest = Number.POSITIVE_INFINITY
      for (const workforce of workforces) {
        if (workforce.resting || workforce.open >= workforce.concurrency) continue
        for (const kind of workforce.kinds) earliest = Math.min(earliest, schedule.earliest(kind))
      }
      return earliest
    },

    fence: (claim) => find(claim).given,

    settle(claim) {
      const found = find(claim)
      settled.set(claim, found)
      found.workforce.open -= 1
    },

    commit() {
      for (const claim of settled.keys()) open.delete(claim)
      for (const claim of taken) open.set(claim.given.claim, claim)
      const given = taken.map((claim) => claim.given)
      settled.clear()
      taken = []
      return given
    },

    undo() {
      for (const { workforce } of settled.values()) workforce.open += 1
      for (const { workforce } of taken) workforce.open -= 1
      settled.clear()
      taken = []
    },

    recover(schedule) {
      const held = new Set([...open.values()].map(({ given }) => given.task.key))
      const right = schedule.recover(held)
      for (const [claim, { workforce, given }] of open) {
        if (right.has(given.task.key)) continue
        open.delete(claim)
        workforce.open -= 1
      }
    },
  }
}
