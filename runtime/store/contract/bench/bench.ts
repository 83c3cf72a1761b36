/** The bench of a contract test: a folder of its own, a store in it, and a manual clock. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { createIdMinter, type MintId } from '../../id.ts'
import type { Acceptance, NewAction, Store, StoreOptions, TaskKind } from '../../port.ts'
import { heartbeatTask } from '../../task-keys.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { type HeldClaim, type ManualWorker, startManualWorker } from './manual-worker.ts'
import { createSampler, type Sampler } from './samples.ts'

export type ContractFault = 'disk-full' | 'disk-freed' | 'commit-fails' | 'answer-lost'

export interface OpenedStore {
  readonly store: Store
  /** Makes the store's disk fail in that way. `commit-fails` and `answer-lost` happen once. */
  fault(fault: ContractFault): Promise<void>
}

/** The data of one test. */
export interface Place {
  readonly location: string
  /** Throws unless the data is sound. It is called while no store is open. */
  check(): Promise<void>
  remove(): Promise<void>
}

export interface ContractSubject {
  readonly name: string
  /** True if several stores may be open on one place. */
  readonly isShared: boolean
  createPlace(): Promise<Place>
  open(options: StoreOptions): Promise<OpenedStore>
  /** The store's opening in a child process: a module and the name of the `OpenStore` that it exports. */
  readonly opener: { readonly module: string; readonly name: string }
}

export interface ContractBench {
  readonly t: TestContext
  readonly subject: ContractSubject
  readonly clock: ManualClock
  readonly mintId: MintId
  readonly location: string
  /** The open store. */
  readonly store: Store
  fault(fault: ContractFault): Promise<void>
  /** Closes the store, if one is open. */
  close(): Promise<void>
  open(options?: Partial<StoreOptions>): Promise<Store>
  /** Opens another store on the same data, where that is possible. Elsewhere it is the one that is open. */
  join(): Promise<Store>
  /** Waits for a round trip to the writer: every due task has been claimed then. */
  settled(): Promise<void>
  /** Accepts one request with these actions. */
  accept(...actions: NewAction[]): Promise<Acceptance>
  work(kinds: readonly TaskKind[], concurrency?: number, pools?: Record<string, number>): ManualWorker
  /** Schedules the heartbeat, at once or after so many milliseconds. */
  scheduleHeartbeat(ms?: number): Promise<unknown>
  /** Returns the first claim of a new worker pool. */
  claim(kind: TaskKind): Promise<HeldClaim>
  /** Moves the clock as far as passes of the retention need until this is so. A pass takes as many slices as the machine needs. */
  until(isReached: () => Promise<boolean>): Promise<void>
  untilGone(read: () => Promise<unknown>): Promise<void>
  /** Moves the clock far enough for two passes of the retention. */
  passes(): Promise<void>
}

type Run = (bench: ContractBench, sample: Sampler) => Promise<unknown>

/** Registers a test with a bench of its own, whose store is open. */
export interface DefineTest {
  (title: string, run: Run): void
  (title: string, options: Partial<StoreOptions>, run: Run): void
}

/** Makes a part of the contract, which is registered for each subject. */
export function contractPart(name: string, define: (test: DefineTest) => void) {
  return (subject: ContractSubject): void => {
    const defineTest: DefineTest = (title: string, ...given: readonly unknown[]) => {
      test(title, { timeout: 60_000 }, async (t) => {
        const [options, run] = (given.length === 1 ? [{}, ...given] : given) as [Partial<StoreOptions>, Run]
        const bench = await openBench(t, subject, options)
        await run(bench, createSampler(bench))
      })
    }
    describe(`${subject.name}: ${name}`, { concurrency: 4, timeout: 600_000 }, () => define(defineTest))
  }
}

/** Makes a bench with an open store. After the test its data is checked and removed. */
export async function openBench(
  t: TestContext,
  subject: ContractSubject,
  options: Partial<StoreOptions> = {},
): Promise<ContractBench> {
  const place = await subject.createPlace()
  const clock = createManualClock()
  const mintId = createIdMinter(clock.now)
  const sample = createSampler({ mintId, clock })
  let opened: OpenedStore | undefined
  const joined: Store[] = []
  const defaults: StoreOptions = {
    location: place.location,
    now: clock.now,
    setTimer: clock.setTimer,
    keepMs: 7 * 86_400_000,
    backlog: 1_000,
    historyMessages: 20,
  }
  let lastOptions = defaults

  const current = (): OpenedStore => {
    if (opened === undefined) throw new Error('no store is open on this bench')
    return opened
  }

  t.after(async () => {
    await Promise.all(joined.map((store) => store.close()))
    await bench.close()
    await place.check()
    await place.remove()
  })

  const bench: ContractBench = {
    t,
    subject,
    clock,
    mintId,
    location: place.location,
    get store() {
      return current().store
    },
    fault: (fault) => current().fault(fault),
    async close() {
      const last = opened
      opened = undefined
      await last?.store.close()
    },
    async open(changed = {}) {
      await bench.close()
      lastOptions = { ...defaults, ...changed }
      opened = await subject.open(lastOptions)
      return opened.store
    },
    async join() {
      if (!subject.isShared) return current().store
      const { store } = await subject.open(lastOptions)
      joined.push(store)
      return store
    },
    async settled() {
      await current().store.command({ type: 'offer-route', route: undefined })
    },
    accept: (...actions) => bench.store.accept(sample.entry(...actions)),
    work: (...given) => startManualWorker(bench.store, ...given),
    claim: (kind) => bench.work([kind]).next(),
    scheduleHeartbeat: (ms = 0) =>
      bench.store.command({ type: 'schedule', task: heartbeatTask(clock.now() + ms) }),
    async until(isReached) {
      for (let slice = 1; slice <= 1_000; slice += 1) {
        await bench.settled()
        if (await isReached()) return
        clock.advance(slice % 20 === 0 ? 60_000 : 20)
      }
      assert.fail('it never came')
    },
    untilGone: (read) => bench.until(async () => (await read()) === undefined),
    async passes() {
      for (let slice = 0; slice < 50; slice += 1) {
        await bench.settled()
        clock.advance(slice === 25 ? 60_000 : 20)
      }
    },
  }
  await bench.open(options)
  return bench
}
