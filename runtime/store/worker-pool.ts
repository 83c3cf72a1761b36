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

/** A worker pool's message to the core. */
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
  /** The work of the claim, until `perform` has been called. */
  work?: Work
  /** The result of `perform`, until it is written. */
  settlement?: Settlement
}

/** Milliseconds until a task is tried again after `perform` threw. */
const faultPause = 5_000
/** Milliseconds between two tries to write a settlement. */
const settlePause = 1_000

export function createWorkerPool(parts: WorkerPoolParts) {
  const { id, options, client } = parts
  const leases = createLeases(parts)
  const { kinds, concurrency, pools, owned } = options
  const limits = { ...(pools && { pools }), ...(owned && { owned }) }
  client.call({ type: 'register', workerPool: id, kinds, concurrency, ...limits }).catch(() => {
    // The pool is registered all the same: the writer remembers it before it writes anything.
  })

  return {
    take(given: LoadedClaim) {
      void performOne(parts, leases, given)
    },
    /** Aborts the claim's cancel signal. */
    cancel(claim: number) {
      leases.get(claim)?.cancel.abort(new Error('the run was cancelled'))
    },
    lose: leases.lose,
    async resize(concurrency: number, pools?: WorkOptions['pools']): Promise<void> {
      // The writer remembers the limits before it writes anything. A refusal is about the batch they came in.
      await client
        .call({ type: 'resize', workerPool: id, concurrency, ...(pools && { pools }) })
        .catch(() => undefined)
    },
    async drain(graceMs: number): Promise<void> {
      // Claims that were given before this answer have arrived before it.
      await client.call({ type: 'pause', workerPool: id }).catch(() => undefined)
      await leases.whenIdle(graceMs)
      const settled = leases
        .open()
        .map(([claim, { settlement = againIn(parts, 0) }]) =>
          client.call({ type: 'settle', claim, settlement }),
        )
      leases.abortAll()
      await Promise.race([Promise.allSettled(settled), client.whenStalled()])
      if (owned) await client.call({ type: 'give-up', workerPool: id }).catch(() => undefined)
    },
  }
}

/** The leases of a pool's open claims, and the drain that waits for their end. */
function createLeases({ client, setTimer }: Pick<WorkerPoolParts, 'client' | 'setTimer'>) {
  const leases = new Map<number, Lease>()
  let onIdle: (() => void) | undefined

  /** While a commit hangs, a drain does not wait for claims that only wait to be written. */
  function isIdle(): boolean {
    return client.isStalled()
      ? [...leases.values()].every(({ settlement }) => settlement !== undefined)
      : leases.size === 0
  }

  function lookWhetherIdle(): void {
    if (onIdle !== undefined && isIdle()) onIdle()
  }

  return {
    get: (claim: number): Lease | undefined => leases.get(claim),
    begin({ claim, work }: LoadedClaim): Lease {
      const lease = { abort: new AbortController(), cancel: new AbortController(), ...(work && { work }) }
      leases.set(claim, lease)
      return lease
    },
    /** The claim waits for its settlement to be written. */
    settling(lease: Lease, settlement: Settlement) {
      lease.settlement = settlement
      lookWhetherIdle()
    },
    release(claim: number) {
      leases.delete(claim)
      lookWhetherIdle()
    },
    /** Aborts the claim's lease: another node has taken it over. */
    lose(claim: number) {
      const lease = leases.get(claim)
      if (lease === undefined) return
      leases.delete(claim)
      lease.abort.abort(new StoreError('LEASE_LOST', 'another node has taken this claim over'))
      lookWhetherIdle()
    },
    open: (): readonly (readonly [claim: number, lease: Lease])[] => [...leases],
    abortAll() {
      const reason = new StoreError('LEASE_LOST', 'the gateway drains')
      for (const [claim, { abort }] of leases) {
        leases.delete(claim)
        abort.abort(reason)
      }
    },
    /** Resolves when no claim is open, and at the latest after so many milliseconds. */
    async whenIdle(graceMs: number): Promise<void> {
      if (isIdle() || graceMs <= 0) return
      await new Promise<void>((resolve) => {
        void client.whenStalled().then(lookWhetherIdle)
        const cancel = setTimer(resolve, graceMs)
        onIdle = () => {
          cancel()
          resolve()
        }
      })
    },
  }
}

type Leases = ReturnType<typeof createLeases>

async function performOne(parts: WorkerPoolParts, leases: Leases, given: LoadedClaim): Promise<void> {
  const lease = leases.begin(given)
  const settlement = await settlementOf(parts, leases, given, lease)
  if (!lease.abort.signal.aborted) await settle(parts, leases, given, lease, settlement)
  leases.release(given.claim)
}

async function settlementOf(
  parts: WorkerPoolParts,
  leases: Leases,
  given: LoadedClaim,
  lease: Lease,
): Promise<Settlement> {
  const { options } = parts
  try {
    const performed = options.perform(claimOf(parts, leases, given, lease))
    // From now on time may have passed, and a checkpoint may have changed the work.
    delete lease.work
    return await performed
  } catch (error) {
    if (!lease.abort.signal.aborted) options.onFault?.(error, given.task)
    return againIn(parts, faultPause)
  }
}

function claimOf(
  { client, hold }: WorkerPoolParts,
  leases: Leases,
  { claim, task }: LoadedClaim,
  lease: Lease,
): Claim {
  return {
    task,
    lease: lease.abort.signal,
    cancel: lease.cancel.signal,
    async load() {
      return lease.work ?? ((await client.call({ type: 'load', claim })) as Work)
    },
    async confirm() {
      await hold?.(claim)
      if (lease.abort.signal.aborted) throw lease.abort.signal.reason
    },
    async checkpoint(effects) {
      await client.call({ type: 'checkpoint', claim, effects }).catch((error) => {
        if (error instanceof StoreError && error.code === 'LEASE_LOST') leases.lose(claim)
        throw error
      })
    },
  }
}

/** Writes the settlement as soon as it can be written: work that was done is not lost because the disk is full. */
async function settle(
  parts: WorkerPoolParts,
  leases: Leases,
  { claim, task }: LoadedClaim,
  lease: Lease,
  first: Settlement,
): Promise<void> {
  let settlement = first
  for (;;) {
    leases.settling(lease, settlement)
    try {
      await parts.client.call({ type: 'settle', claim, settlement })
      return
    } catch (error) {
      if (!(error instanceof StoreError) || error.code === 'LEASE_LOST' || error.code === 'DRAINING') return
      if (lease.abort.signal.aborted) return
      if (error.code === 'BAD_ENTRY' && settlement === first) {
        parts.options.onFault?.(error, task)
        settlement = againIn(parts, faultPause)
      } else {
        await new Promise<void>((resolve) => parts.setTimer(resolve, settlePause))
      }
    }
  }
}

function againIn({ now }: Pick<WorkerPoolParts, 'now'>, ms: number): Settlement {
  return { effects: {}, again: now() + ms, counts: false }
}
