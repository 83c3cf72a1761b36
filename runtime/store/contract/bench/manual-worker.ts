/** A worker pool whose claims a test takes and settles itself, one after the other. */

import assert from 'node:assert/strict'
import type { Claim, Effects, Settlement, Store, TaskKind, WorkerPool, WorkOptions } from '../../port.ts'

export interface HeldClaim extends Claim {
  settle(settlement: Settlement): void
  /** Settles the claim as done. */
  done(effects?: Effects): void
  again(at: number, counts?: boolean): void
}

export interface ManualWorker extends WorkerPool {
  /** Returns the next claim that the test has not taken yet. */
  next(): Promise<HeldClaim>
  /** Checks after a round trip to the writer that there is no claim that the test has not taken. */
  idle(message?: string): Promise<void>
  /** Claims that the test has not taken yet. */
  readonly waiting: readonly HeldClaim[]
  readonly faults: readonly unknown[]
}

export function startManualWorker(
  store: Store,
  kinds: readonly TaskKind[],
  concurrency = 8,
  pools?: WorkOptions['pools'],
): ManualWorker {
  const waiting: HeldClaim[] = []
  const takers: ((claim: HeldClaim) => void)[] = []
  const faults: unknown[] = []

  const workerPool = store.work({
    kinds,
    concurrency,
    ...(pools !== undefined && { pools }),
    perform: (claim) =>
      new Promise<Settlement>((settle) => {
        const held: HeldClaim = {
          ...claim,
          settle,
          done: (effects = {}) => settle({ effects, done: true }),
          again: (at, counts = true) => settle({ effects: {}, again: at, counts }),
        }
        const taker = takers.shift()
        if (taker === undefined) waiting.push(held)
        else taker(held)
      }),
    onFault: (error) => faults.push(error),
  })

  return {
    ...workerPool,
    waiting,
    faults,
    async idle(message) {
      await store.command({ type: 'offer-route', route: undefined })
      assert.equal(waiting.length, 0, message)
    },
    next() {
      const held = waiting.shift()
      return held === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(held)
    },
  }
}
