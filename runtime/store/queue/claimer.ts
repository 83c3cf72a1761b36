/**
 * Looks for due tasks and claims them for this process's worker pools: in the transaction of a post, or in transactions of their own
 * where several processes share the database, so that no post waits for the locks of a claim.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { Context, Notes } from '../context.ts'
import { claimDue, type LeaseTimes } from './claiming.ts'
import type { Claims, OpenClaim } from './claims.ts'
import type { TaskRow } from './tasks.ts'

/** Milliseconds until tasks are claimed again after that has failed. */
const pauseMs = 1_000

/** Milliseconds until the next look for due tasks that another transaction had locked. */
const lockedMs = 10

/** When tasks are due, as far as it is known. */
interface Due {
  /** No task that this process could claim is due before. */
  readonly nextAt: number
  /** Due tasks were left because there was no room for them. */
  readonly isFull: boolean
}

/** What a transaction has found, and claimed. It holds once that is committed. */
export interface Looked {
  readonly claimed: readonly { readonly workerPool: number; readonly row: TaskRow }[]
  /** When the claims were made, by `performance.now()`. */
  readonly leasedAt?: number
  readonly due: Due
  /** Due tasks were left because another transaction had locked them, perhaps without changing them. */
  readonly isLocked?: boolean
}

export interface ClaimerOptions {
  readonly claims: Claims
  readonly times: LeaseTimes
  /** Whether tasks are claimed in transactions of their own. */
  readonly isApart: boolean
  /** This process's clock. Default: that of the posts. */
  readonly time?: (() => number) | undefined
  /** The database's clock. Default: that of the posts. */
  readonly clock?: (() => number) | undefined
  /** Runs a transaction, and publishes what was claimed in it. */
  commit(now: number, look: (tx: Context) => Promise<Looked>): Promise<Looked>
}

export function createClaimer({ claims, times, isApart, time, clock, commit }: ClaimerOptions) {
  let due: Due = { nextAt: 0, isFull: false }
  let claiming: Promise<void> | undefined
  let isWanted = false
  /** Since when a transaction that claims is under way, by `performance.now()`. */
  let claimingSince = Number.POSITIVE_INFINITY

  function note(at: number): void {
    due = { ...due, nextAt: Math.min(due.nextAt, at) }
  }

  /** Claims due tasks, as many as the worker pools have room for. */
  async function look(tx: Context, settled: readonly number[], at: number): Promise<Looked> {
    const leasedAt = performance.now()
    const found = await claimDue(tx, claims.offers(settled), claims.kinds(), { times, clock: at })
    const { claimed, nextAt, isFull, isLocked } = found
    return { claimed, leasedAt, due: { nextAt: isLocked ? tx.now : nextAt, isFull }, isLocked }
  }

  async function lookApart(now: number): Promise<void> {
    const before = due
    // What is noted meanwhile is kept.
    due = { nextAt: Number.POSITIVE_INFINITY, isFull: false }
    claimingSince = performance.now()
    let looked: Looked
    try {
      looked = await commit(now, (tx) => look(tx, [], clock?.() ?? now))
    } catch (error) {
      due = earlierOf(due, { ...before, nextAt: Math.max(before.nextAt, now + pauseMs) })
      throw error
    } finally {
      claimingSince = Number.POSITIVE_INFINITY
    }
    if (looked.isLocked) await pause(lockedMs)
  }

  async function keepClaiming(now: number): Promise<void> {
    while (isWanted && claims.offers().length > 0) {
      await lookApart(time?.() ?? now)
      isWanted = due.nextAt <= (time?.() ?? now)
    }
    isWanted = false
  }

  async function claimApart(now: number): Promise<void> {
    isWanted = true
    claiming ??= keepClaiming(now).finally(() => {
      claiming = undefined
    })
    await claiming
    // It was wanted again when the last round had looked already.
    if (isWanted && claiming === undefined) await claimApart(now)
  }

  return {
    /** When tasks are to be looked for; Infinity while there is no room for any. */
    nextAt: () => (claims.offers().length === 0 ? Number.POSITIVE_INFINITY : due.nextAt),
    /** A task may be due at this time. */
    note,
    /** Since when it is not known what was claimed, by `performance.now()`; Infinity if all is known. */
    claimingSince: () => claimingSince,

    /** Looks in the transaction of a post, after its actions, unless tasks are claimed apart. */
    async lookIn(tx: Context, { dueAt }: Notes, settled: readonly number[]): Promise<Looked> {
      const nextAt = Math.min(due.nextAt, dueAt, due.isFull && settled.length > 0 ? tx.now : due.nextAt)
      const known = { nextAt, isFull: due.isFull && settled.length === 0 }
      if (isApart || nextAt > tx.now || claims.offers(settled).length === 0)
        return { claimed: [], due: known }
      return await look(tx, settled, tx.now)
    },

    /** Takes what was claimed, once it is committed. */
    take({ claimed, leasedAt = 0, due: found }: Looked): readonly OpenClaim[] {
      due = isApart ? earlierOf(due, found) : found
      return claimed.map(({ workerPool, row }) => claims.take(workerPool, row, leasedAt))
    },

    /** Claims what is due in transactions of their own. Resolves when that is done; a failure is tried again later. */
    async claimApart(now: number): Promise<void> {
      // What was due may be about to be claimed.
      await (due.nextAt <= now ? claimApart(now) : claiming)?.catch(() => undefined)
    },
  }
}

function earlierOf(a: Due, b: Due): Due {
  return { nextAt: Math.min(a.nextAt, b.nextAt), isFull: a.isFull || b.isFull }
}
