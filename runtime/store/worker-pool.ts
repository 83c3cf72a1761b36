/**
 * Performs claims on the main thread, with one lease for each, and handles what can go wrong: `perform` throws, the
 * settlement cannot be written, or the pool drains.
 */

import {
  type Claim,
  type Effects,
  type SetTimer,
  type Settlement,
  StoreError,
  type Work,
  type WorkOptions,
} from './port.ts'
import type { LoadedClaim } from './queue/claims.ts'

type PoolOptions = Pick<WorkOptions, 'kinds' | 'concurrency' | 'pools' | 'owned'>

/** What a worker pool asks of the core. */
export type ClaimAction =
  | ({ readonly type: 'register'; readonly workerPool: number } & PoolOptions)
  | ({ readonly type: 'resize'; readonly workerPool: number } & Pick<PoolOptions, 'concurrency' | 'pools'>)
  | { readonly type: 'pause'; readonly workerPool: number }
  /** Other nodes may perform what this one has owned. */
  | { readonly type: 'give-up'; readonly workerPool: number }
  | { readonly type: 'load'; readonly claim: number }
  | { readonly type: 'checkpoint'; readonly claim: number; readonly effects: Effects }
  | { readonly type: 'settle'; readonly claim: number; readonly settlement: Settlement }

export interface WorkerPoolParts {
  readonly id: number
  readonly options: WorkOptions
  readonly client: {
    /** Resolves when the order is committed. */
    call(order: ClaimAction): Promise<unknown>
    /** Returns whether a commit takes so long that no caller waits for it any more. */
    isStalled(): boolean
    /** Resolves as soon as a commit has stalled. */
    whenStalled(): Promise<void>
  }
  /** Resolves when no other node can have taken over a claim. Default: at once, as there is no other node. */
  readonly hold?: (claim: number) => Promise<void>
  readonly now: () => number
  readonly setTimer: SetTimer
}

/** The worker pool, as the store knows it. */
export type ClaimTaker = ReturnType<typeof createWorkerPool>

interface Lease {
  readonly abort: AbortController
  readonly cancel: AbortController
  /** What came with the claim, until `perform` has been called. */
  work?: Work
  /** What `perform` returned, until it is written. */
  settlement?: Settlement
}

/** Milliseconds until a task is tried again after `perform` threw. */
const faultPause = 5_000
/** Milliseconds between two tries to write a settlement. */
const settlePause = 1_000

export function createWorkerPool({
  id,
  options,
  client,
  hold = async () => undefined,
  now,
  setTimer,
}: WorkerPoolParts) {
  const leases = new Map<number, Lease>()
  let whenIdle: (() => void) | undefined

  const { kinds, concurrency, pools, owned } = options
  const limits = { ...(pools && { pools }), ...(owned && { owned }) }
  client.call({ type: 'register', workerPool: id, kinds, concurrency, ...limits }).catch(() => {
    // The pool is registered all the same: the writer remembers it before it writes anything.
  })

  async function performOne(given: LoadedClaim): Promise<void> {
    const { work } = given
    const lease: Lease = {
      abort: new AbortController(),
      cancel: new AbortController(),
      ...(work && { work }),
    }
    leases.set(given.claim, lease)
    const settlement = await settlementOf(given, lease)
    if (!lease.abort.signal.aborted) await settle(given, lease, settlement)
    release(given.claim)
  }

  async function settlementOf(given: LoadedClaim, lease: Lease): Promise<Settlement> {
    try {
      const performed = options.perform(claimOf(given, lease))
      // From now on time may have passed, and a checkpoint may have changed the work.
      delete lease.work
      return await performed
    } catch (error) {
      if (!lease.abort.signal.aborted) options.onFault?.(error, given.task)
      return againIn(faultPause)
    }
  }

  function claimOf({ claim, task }: LoadedClaim, lease: Lease): Claim {
    return {
      task,
      lease: lease.abort.signal,
      cancel: lease.cancel.signal,
      async load() {
        return lease.work ?? ((await client.call({ type: 'load', claim })) as Work)
      },
      async hold() {
        await hold(claim)
        if (lease.abort.signal.aborted) throw lease.abort.signal.reason
      },
      async checkpoint(effects) {
        await client.call({ type: 'checkpoint', claim, effects }).catch((error) => {
          if (error instanceof StoreError && error.code === 'LEASE_LOST') lose(claim)
          throw error
        })
      },
    }
  }

  /** Writes the settlement as soon as it can be written: work that was done is not lost because the disk is full. */
  async function settle(given: LoadedClaim, lease: Lease, first: Settlement): Promise<void> {
    let settlement = first
    for (;;) {
      lease.settlement = settlement
      lookWhetherIdle()
      try {
        await client.call({ type: 'settle', claim: given.claim, settlement })
        return
      } catch (error) {
        if (!(error instanceof StoreError) || error.code === 'LEASE_LOST' || error.code === 'DRAINING') return
        if (lease.abort.signal.aborted) return
        if (error.code === 'BAD_ENTRY' && settlement === first) {
          options.onFault?.(error, given.task)
          settlement = againIn(faultPause)
        } else {
          await new Promise<void>((resolve) => setTimer(resolve, settlePause))
        }
      }
    }
  }

  function againIn(ms: number): Settlement {
    return { effects: {}, again: now() + ms, counts: false }
  }

  function release(claim: number): void {
    leases.delete(claim)
    lookWhetherIdle()
  }

  /** Aborts the claim's lease: another node has taken it over. */
  function lose(claim: number): void {
    const lease = leases.get(claim)
    if (lease === undefined) return
    leases.delete(claim)
    lease.abort.abort(new StoreError('LEASE_LOST', 'another node has taken this claim over'))
    lookWhetherIdle()
  }

  /** While a commit hangs, a drain does not wait for claims that only wait to be written. */
  function isIdle(): boolean {
    return client.isStalled()
      ? [...leases.values()].every(({ settlement }) => settlement !== undefined)
      : leases.size === 0
  }

  function lookWhetherIdle(): void {
    if (whenIdle !== undefined && isIdle()) whenIdle()
  }

  async function takeBack(): Promise<void> {
    const reason = new StoreError('LEASE_LOST', 'the gateway drains')
    const taken = [...leases]
    const settled = taken.map(([claim, { settlement }]) =>
      client.call({ type: 'settle', claim, settlement: settlement ?? againIn(0) }),
    )
    for (const [claim, { abort }] of taken) {
      leases.delete(claim)
      abort.abort(reason)
    }
    await Promise.race([Promise.allSettled(settled), client.whenStalled()])
  }

  return {
    take(given: LoadedClaim) {
      void performOne(given)
    },
    /** Aborts the claim's cancel signal. */
    cancel(claim: number) {
      leases.get(claim)?.cancel.abort(new Error('the run was cancelled'))
    },
    lose,
    async resize(concurrency: number, pools?: WorkOptions['pools']): Promise<void> {
      // The writer remembers the limits before it writes anything. A refusal is about the batch they came in.
      await client
        .call({ type: 'resize', workerPool: id, concurrency, ...(pools && { pools }) })
        .catch(() => undefined)
    },
    async drain(graceMs: number): Promise<void> {
      // Claims that were given before this answer have arrived before it.
      await client.call({ type: 'pause', workerPool: id }).catch(() => undefined)
      if (!isIdle() && graceMs > 0) {
        await new Promise<void>((resolve) => {
          void client.whenStalled().then(lookWhetherIdle)
          const cancel = setTimer(resolve, graceMs)
          whenIdle = () => {
            cancel()
            resolve()
          }
        })
      }
      await takeBack()
      if (owned) await client.call({ type: 'give-up', workerPool: id }).catch(() => undefined)
    },
  }
}
