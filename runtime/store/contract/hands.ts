/** Owns a workforce whose claims a test performs by hand, one after the other. */

import type { Claim, Settlement, Store, TaskKind, Workforce, WorkOptions } from '../port.ts'

export interface HeldClaim extends Claim {
  settle(settlement: Settlement): void
  /** Settles as done, without effects. */
  done(): void
  again(at: number, counts?: boolean): void
}

export interface Hands extends Workforce {
  /** The next claim that nobody has taken yet. */
  next(): Promise<HeldClaim>
  /** Claims that were given and not taken yet. */
  readonly waiting: readonly HeldClaim[]
  readonly faults: readonly unknown[]
}

export function hireHands(
  store: Store,
  kinds: readonly TaskKind[],
  concurrency = 8,
  pools?: WorkOptions['pools'],
): Hands {
  const waiting: HeldClaim[] = []
  const takers: ((claim: HeldClaim) => void)[] = []
  const faults: unknown[] = []

  const workforce = store.work({
    kinds,
    concurrency,
    ...(pools !== undefined && { pools }),
    perform: (claim) =>
      new Promise<Settlement>((settle) => {
        const held: HeldClaim = {
          ...claim,
          settle,
          done: () => settle({ effects: {}, done: true }),
          again: (at, counts = true) => settle({ effects: {}, again: at, counts }),
        }
        const taker = takers.shift()
        if (taker === undefined) waiting.push(held)
        else taker(held)
      }),
    onFault: (error) => faults.push(error),
  })

  return {
    ...workforce,
    waiting,
    faults,
    next() {
      const held = waiting.shift()
      return held === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(held)
    },
  }
}
