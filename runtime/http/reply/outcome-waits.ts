/** Lets senders wait for the outcome of their run. All of them share one subscription to the changes of the store. */

import type { ServerResponse } from 'node:http'
import type { Timers } from '@reveille/engine'
import type { Cluster, Id, RunRecord, RunState, Store } from '../../store/port.ts'

/** Maximum number of senders that wait at a time, as each holds a connection. Further senders get their reply at once. */
export const maxWaiting = 1000

/** In these states the turn of a run is over, whatever is still to be summarised, delivered or decided about it. */
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
  /** The time that the sender asked for is over. */
  | { readonly kind: 'late' }
  /** The gateway drains, the sender has gone, or the store cannot be read. */
  | { readonly kind: 'cut' }

export interface Waiting {
  /** Maximum wait. */
  readonly seconds: number
  /** Never rejects. */
  readonly end: Promise<WaitEnd>
  /** Ends the wait, because there is no run to wait for. */
  cut(): void
}

/** Milliseconds between two looks at a run that another node may perform: its notifications may not arrive. */
const pollMs = 1_000

export interface OutcomeWaitsOptions {
  readonly store: Pick<Store, 'changes' | 'read'> & { readonly cluster?: Pick<Cluster, 'isShared'> }
  readonly timers: Timers
  /** Aborted when the gateway begins to drain: every wait ends. */
  readonly draining: AbortSignal
}

export interface Waiter extends Waiting {
  readonly runId: Id
  /** Reads the run and ends the wait if its turn is over; the run may have been resumed since. */
  check(): void
}

export function createOutcomeWaits({ store, timers, draining }: OutcomeWaitsOptions) {
  const waiters = new Set<Waiter>()
  let subscription: AbortController | undefined
  draining.addEventListener('abort', cutAll, { once: true })

  /**
   * Begins to wait for a run. It is called before the run is committed, so that no outcome is missed, however soon it comes.
   * Returns undefined while the gateway drains, if too many senders wait already, or if the sender has gone.
   */
  function begin(runId: Id, seconds: number, outgoing: ServerResponse): Waiter | undefined {
    if (draining.aborted || waiters.size >= maxWaiting || outgoing.destroyed) return undefined
    const { promise, resolve } = Promise.withResolvers<WaitEnd>()
    const timer = timers.setTimeout(() => finish({ kind: 'late' }), seconds * 1000)
    let polling = store.cluster?.isShared ? timers.setTimeout(poll, pollMs) : undefined
    const cut = () => finish({ kind: 'cut' })
    const waiter: Waiter = { runId, seconds, end: promise, check, cut }

    /** The first end counts. */
    function finish(end: WaitEnd): void {
      if (!waiters.delete(waiter)) return
      timers.clearTimeout(timer)
      timers.clearTimeout(polling)
      outgoing.off('close', cut)
      if (waiters.size === 0) unsubscribe()
      resolve(end)
    }

    function check(): void {
      store.read.run(runId).then((run) => {
        if (run === undefined) cut()
        else if (isOver[run.state]) finish({ kind: 'over', run })
      }, cut)
    }

    async function poll(): Promise<void> {
      const run = await store.read.run(runId).catch(() => undefined)
      if (run !== undefined && isOver[run.state]) finish({ kind: 'over', run })
      else if (waiters.has(waiter)) polling = timers.setTimeout(poll, pollMs)
    }

    outgoing.once('close', cut)
    waiters.add(waiter)
    if (subscription === undefined) subscribe()
    return waiter
  }

  function subscribe(): void {
    const mine = new AbortController()
    subscription = mine
    // If the store has closed or failed, no wait would ever end.
    const onEnd = () => {
      if (subscription === mine) cutAll()
    }
    follow(mine.signal).then(onEnd, onEnd)
  }

  function unsubscribe(): void {
    subscription?.abort()
    subscription = undefined
  }

  async function follow(signal: AbortSignal): Promise<void> {
    for await (const { type, id, state } of store.changes({ signal })) {
      if (type !== 'run' || !isOver[state as RunState]) continue
      for (const { runId, check } of waiters) if (runId === id) check()
    }
  }

  function cutAll(): void {
    for (const { cut } of waiters) cut()
  }

  return {
    begin,
    /** The same for a run that was there before and may be over already. A run that history has forgotten ends the wait. */
    join(runId: Id, seconds: number, outgoing: ServerResponse): Waiting | undefined {
      const waiter = begin(runId, seconds, outgoing)
      waiter?.check()
      return waiter
    },
  }
}
