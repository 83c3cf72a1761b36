/** Owns senders that wait for the outcome of their run: who they are, and the one subscription that all of them share. */

import type { ServerResponse } from 'node:http'
import type { Timers } from '@reveille/engine'
import type { Id, RunRecord, RunState, Store } from '../../store/port.ts'

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
  /** The same for a run that was there before, and may be over already. One that is forgotten is not waited for. */
  join(runId: Id, seconds: number, outgoing: ServerResponse): Waiting | undefined
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
  /** Of one run several may wait: its sender, and whoever sends it again. */
  const waiters = new Map<Id, Set<Waiter>>()
  let count = 0
  let subscription: AbortController | undefined
  draining.addEventListener('abort', cutAll, { once: true })

  function begin(runId: Id, seconds: number, outgoing: ServerResponse): Waiting | undefined {
    return enter(runId, seconds, outgoing)?.waiting
  }

  function join(runId: Id, seconds: number, outgoing: ServerResponse): Waiting | undefined {
    const entered = enter(runId, seconds, outgoing)
    entered?.waiter.look()
    return entered?.waiting
  }

  function enter(
    runId: Id,
    seconds: number,
    outgoing: ServerResponse,
  ): { readonly waiter: Waiter; readonly waiting: Waiting } | undefined {
    if (draining.aborted || count >= most || outgoing.destroyed) return undefined
    const { promise, resolve } = Promise.withResolvers<WaitEnd>()
    const timer = timers.setTimeout(() => leave({ kind: 'late' }), seconds * 1000)
    const cut = () => leave({ kind: 'cut' })

    /** The first end counts. */
    function leave(end: WaitEnd): void {
      if (!remove(runId, waiter)) return
      timers.clearTimeout(timer)
      outgoing.off('close', cut)
      if (count === 0) unsubscribe()
      resolve(end)
    }

    function look(): void {
      store.read.run(runId).then((run) => {
        if (run === undefined) cut()
        else if (isOver[run.state]) leave({ kind: 'over', run })
      }, cut)
    }

    const waiter = { look, cut }
    outgoing.once('close', cut)
    add(runId, waiter)
    if (subscription === undefined) subscribe()
    return { waiter, waiting: { seconds, end: promise, cut } }
  }

  function add(runId: Id, waiter: Waiter): void {
    const others = waiters.get(runId)
    if (others) others.add(waiter)
    else waiters.set(runId, new Set([waiter]))
    count += 1
  }

  /** Whether it was there. */
  function remove(runId: Id, waiter: Waiter): boolean {
    const others = waiters.get(runId)
    if (!others?.delete(waiter)) return false
    if (others.size === 0) waiters.delete(runId)
    count -= 1
    return true
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
      if (type === 'run' && isOver[state as RunState]) for (const { look } of waiters.get(id) ?? []) look()
    }
  }

  function cutAll(): void {
    for (const { cut } of [...waiters.values()].flatMap((those) => [...those])) cut()
  }

  return { begin, join }
}
