/** Owns senders that wait for the outcome of their run: who they are, and the one subscription that all of them share. */

import type { ServerResponse } from 'node:http'
import type { Id, RunRecord, RunState, Store } from '../store/port.ts'
import type { Timers } from './timers.ts'

/** Senders that wait at one time; each holds a connection. Whoever comes when there are as many is answered at once. */
export const mostWaiting = 1000

/** A turn in one of these is over, whatever is still to be summarised, delivered or decided about it. */
const isOver: Readonly<Record<RunState, boolean>> = {
  queued: false,
  running: false,
  succeeded: true,
  failed: true,
  'timed-out': true,
  cancelled: true,
  parked: true,
}

export type WaitEnd =
  | { readonly kind: 'over'; readonly run: RunRecord }
  /** The time that was asked for is over. */
  | { readonly kind: 'late' }
  /** The gateway drains, the sender has gone, or nobody can tell. */
  | { readonly kind: 'cut' }

export interface Waiting {
  /** How long at most. */
  readonly seconds: number
  /** Never rejects. */
  readonly end: Promise<WaitEnd>
  /** There is no run to wait for. */
  cut(): void
}

export interface OutcomeWaits {
  /**
   * To be called before the run is committed, so that no ending is missed, however soon it comes. Undefined: the
   * gateway drains, too many wait already, or the sender has gone.
   */
  begin(runId: Id, seconds: number, outgoing: ServerResponse): Waiting | undefined
}

export interface OutcomeWaitsOptions {
  readonly store: Pick<Store, 'changes' | 'read'>
  readonly timers: Timers
  /** Aborted when the gateway begins to drain: every wait ends. */
  readonly draining: AbortSignal
  /** Default: 1,000. */
  readonly most?: number
}

interface Waiter {
  /** The run's turn has ended, unless it was resumed since. */
  look(): void
  cut(): void
}

export function createOutcomeWaits(options: OutcomeWaitsOptions): OutcomeWaits {
  const { store, timers, draining, most = mostWaiting } = options
  const waiters = new Map<Id, Waiter>()
  let subscription: AbortController | undefined
  draining.addEventListener('abort', cutAll, { once: true })

  function begin(runId: Id, seconds: number, outgoing: ServerResponse): Waiting | undefined {
    if (draining.aborted || waiters.size >= most || outgoing.destroyed) return undefined
    const { promise, resolve } = Promise.withResolvers<WaitEnd>()
    const timer = timers.setTimeout(() => leave({ kind: 'late' }), seconds * 1000)
    const cut = () => leave({ kind: 'cut' })

    /** The first end counts. */
    function leave(end: WaitEnd): void {
      if (!waiters.delete(runId)) return
      timers.clearTimeout(timer)
      outgoing.off('close', cut)
      if (waiters.size === 0) unsubscribe()
      resolve(end)
    }

    function look(): void {
      store.read.run(runId).then((run) => {
        if (run !== undefined && isOver[run.state]) leave({ kind: 'over', run })
      }, cut)
    }

    outgoing.once('close', cut)
    waiters.set(runId, { look, cut })
    if (subscription === undefined) subscribe()
    return { seconds, end: promise, cut }
  }

  function subscribe(): void {
    const mine = new AbortController()
    subscription = mine
    void follow(mine.signal)
      .catch(() => undefined)
      .then(() => {
        // The store has closed, or failed: nobody would ever be told.
        if (subscription === mine) cutAll()
      })
  }

  function unsubscribe(): void {
    subscription?.abort()
    subscription = undefined
  }

  async function follow(signal: AbortSignal): Promise<void> {
    for await (const { type, id, state } of store.changes({ signal })) {
      if (type === 'run' && isOver[state as RunState]) waiters.get(id)?.look()
    }
  }

  function cutAll(): void {
    for (const waiter of [...waiters.values()]) waiter.cut()
  }

  return { begin }
}
