/** A scene for simultaneous commands: two stores on the same data, which are two nodes where the store has several. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { CommandResult, Store } from '../../port.ts'
import { type ContractBench, type ContractSubject, openBench } from './bench.ts'
import { createSampler, type Sampler } from './samples.ts'

export interface Scene extends Sampler {
  readonly bench: ContractBench
  readonly stores: readonly [Store, Store]
  readonly now: number
  /** Does the same at both stores, at one moment. */
  both<Result>(work: (store: Store) => Promise<Result>): Promise<readonly [Result, Result]>
  /** Claims and settles tasks at both nodes until there were `expected` claims and none is open. Returns the number of claims by task. */
  claims(expected: number): Promise<ReadonlyMap<string, number>>
}

/** The bound of requests without effect at both stores. */
export const maxIgnored = 20

/** The two answers, sorted. */
export function answers(results: readonly CommandResult[]): readonly string[] {
  return results.map(({ ok, why, done }) => (ok ? `ok${done ?? ''}` : (why ?? 'refused'))).toSorted()
}

/** Does something for all things of a chunk at one moment, a chunk after the other. */
export async function inChunks<Thing>(
  things: readonly Thing[],
  chunk: number,
  race: (thing: Thing, index: number) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < things.length; at += chunk)
    await Promise.all(things.slice(at, at + chunk).map((thing, index) => race(thing, at + index)))
}

export const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)

export async function openScene(t: TestContext, subject: ContractSubject): Promise<Scene> {
  const bench = await openBench(t, subject, { backlog: 100_000, maxWithoutEffect: maxIgnored })
  const sample = createSampler(bench)
  const stores = [bench.store, await bench.join()] as const
  const [first, second] = stores
  return {
    ...sample,
    bench,
    stores,
    now: bench.clock.now(),
    both: async (work) => await Promise.all([work(first), work(second)]),
    async claims(expected) {
      const counts = new Map<string, number>()
      let claimed = 0
      for (const store of stores)
        store.work({
          kinds: ['run', 'heartbeat', 'delivery'],
          concurrency: 50,
          async perform({ task: { subject, key } }) {
            counts.set(subject ?? key, (counts.get(subject ?? key) ?? 0) + 1)
            claimed += 1
            return { done: true, effects: {} }
          },
        })
      const look = () =>
        Promise.all(stores.map((store) => store.command({ type: 'offer-route', route: undefined })))
      await until(
        async () => {
          await look()
          return claimed >= expected && stores.every((store) => store.health().backlog === 0)
        },
        (isOver) => isOver,
        30_000 + expected * 20,
      )
      await look()
      return counts
    },
  }
}

export async function until<Value>(
  read: () => Promise<Value>,
  isReached: (value: Value) => boolean,
  maxMs = 30_000,
): Promise<Value> {
  for (const deadline = performance.now() + maxMs; ; ) {
    const value = await read()
    if (isReached(value)) return value
    if (performance.now() > deadline) assert.fail('it never came')
  }
}
