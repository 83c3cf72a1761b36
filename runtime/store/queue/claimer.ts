/**
 * Looks for due tasks and claims them for this process's worker pools: in the transaction of a post, or in transactions of their own
 * where several processes share the database, so that no post waits for the locks of a claim.
 *
 * It looks only where some worker pool has room and some task may be due: places are lowered by what is noted here and by other nodes, and
 * raised by what a look has left. Rows that are dead before a place, because an old transaction may still see them, are not walked through.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { Context, Notes } from '../context.ts'
import { type Claimed, claimDue, type LeaseTimes, type Offer, readyPools } from './claiming.ts'
import type { Claims, OpenClaim } from './claims.ts'
import { lower, nameOf, type Place, type Places } from './places.ts'

/** Milliseconds until tasks are claimed again after that has failed. */
const pauseMs = 1_000

/** Milliseconds until the next look for due tasks that another transaction had locked. */
const lockedMs = 10

/** Tasks that a transaction found and claimed; valid once it is committed. */
export interface Looked extends Claimed {
  /** When the claims were made, by `performance.now()`. */
  readonly leasedAt: number
}

export interface ClaimerOptions {
  readonly claims: Claims
  readonly times: LeaseTimes
  /** True if tasks are claimed in transactions of their own. */
  readonly isApart: boolean
  /** This process's clock. Default: that of the posts. */
  readonly time?: (() => number) | undefined
  /** The database's clock. Default: that of the posts. */
  readonly clock?: (() => number) | undefined
  /** Runs a transaction, and publishes what was claimed in it. */
  commit(now: number, look: (tx: Context) => Promise<Looked>): Promise<Looked>
}

/** Pools in which tasks may be due. */
function createPlaces({ claims }: Pick<ClaimerOptions, 'claims'>) {
  const places: Places = new Map()
  /** Tasks may be ready that no place tells of. */
  let isUnknown = true
  let retryAt = 0

  return {
    /** When there is something to look for; Infinity while there is no room for it. */
    nextAt(offers: readonly Offer[] = claims.offers(), known: Places = places): number {
      if (offers.length === 0) return Number.POSITIVE_INFINITY
      if (isUnknown) return retryAt
      let next = Number.POSITIVE_INFINITY
      for (const { kind, dueAt, isFull } of known.values())
        if (!isFull && dueAt < next && offers.some(({ kinds }) => kinds.includes(kind))) next = dueAt
      return Math.max(next, retryAt)
    },
    note(news: Place, known: Places = places) {
      // Nothing says that a pool is full that is not known, or that is being looked at.
      lower(known, known.has(nameOf(news)) ? news : { ...news, isFull: false })
    },
    forget() {
      isUnknown = true
    },
    copy: (): Places => new Map(places),
    /** The places to look in; undefined where all pools have to be looked for. */
    known: (all: Places = places): readonly Place[] | undefined =>
      isUnknown ? undefined : [...all.values()],
    /** A look begins, and what is noted from now on is kept. Returns what to do if it fails: all is as before, and looked for later. */
    clear(): (retry: number) => void {
      const [before, wasUnknown] = [[...places.values()], isUnknown]
      places.clear()
      isUnknown = false
      return (retry) => {
        for (const place of before) lower(places, place)
        isUnknown ||= wasUnknown
        retryAt = retry
      }
    },
    /** Adds the places that a look has left. */
    left(all: readonly Place[]) {
      for (const place of all) if (place.dueAt < Number.POSITIVE_INFINITY) lower(places, place)
    },
  }
}

export function createClaimer(options: ClaimerOptions) {
  const { claims, times, isApart, time, clock, commit } = options
  const places = createPlaces(options)
  let claiming: Promise<void> | undefined

  /** Claims due tasks, as many as the worker pools have room for. */
  async function look(
    tx: Context,
    offers: readonly Offer[],
    known: readonly Place[] | undefined,
    at: number,
  ): Promise<Looked> {
    const leasedAt = performance.now()
    const all = known ?? (await readyPools(tx, claims.kinds()))
    return { leasedAt, ...(await claimDue(tx, offers, all, { times, clock: at })) }
  }

  async function lookApart(now: number): Promise<void> {
    const knownPlaces = places.known()
    const undo = places.clear()
    let looked: Looked
    try {
      looked = await commit(now, (tx) => look(tx, claims.offers(), knownPlaces, clock?.() ?? now))
    } catch (error) {
      undo(now + pauseMs)
      throw error
    }
    if (looked.isLocked) await pause(lockedMs)
  }

  async function keepClaiming(now: number): Promise<void> {
    try {
      for (let at = now; places.nextAt() <= at; at = time?.() ?? now) await lookApart(at)
    } finally {
      claiming = undefined
    }
  }

  return {
    nextAt: () => places.nextAt(),
    note: (news: Place) => places.note(news),
    /** Anything may be due: the next look finds out what is. */
    forget: places.forget,

    /** Looks in the transaction of a post, after its actions, unless tasks are claimed apart. */
    async lookIn(tx: Context, notes: Notes, settled: readonly number[]): Promise<Looked | undefined> {
      if (isApart) return undefined
      const offers = claims.offers(settled)
      const copiedPlaces = places.copy()
      for (const news of notes.pools.values()) places.note(news, copiedPlaces)
      if (places.nextAt(offers, copiedPlaces) > tx.now) return undefined
      return await look(tx, offers, places.known(copiedPlaces), tx.now)
    },

    /** Takes what was claimed, once it is committed. */
    take({ claimed, leasedAt, left }: Looked): readonly OpenClaim[] {
      if (!isApart) places.clear()
      places.left(left)
      return claimed.map(({ workerPool, row }) => claims.take(workerPool, row, leasedAt))
    },

    /** Claims what is due in transactions of their own. Resolves when what is due now is claimed; a failure is tried again later. */
    async claimApart(now: number): Promise<void> {
      if (claiming === undefined && places.nextAt() <= now)
        claiming = keepClaiming(now).catch(() => undefined)
      await claiming
    },
  }
}
