/** The bench of a contract test: a folder of its own, a store in it, and a manual clock. */

import type { TestContext } from 'node:test'
import { createIdMinter, type MintId } from '../../id.ts'
import type { Store, StoreOptions } from '../../port.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'

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

export interface ContractContext {
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
}

/** Makes a bench with an open store. After the test its data is checked and removed. */
export async function openBench(
  t: TestContext,
  subject: ContractSubject,
  options: Partial<StoreOptions> = {},
): Promise<ContractContext> {
  const bench = await createBench(t, subject)
  await bench.open(options)
  return bench
}

/** Makes a bench without an open store. */
export async function createBench(t: TestContext, subject: ContractSubject): Promise<ContractContext> {
  const place = await subject.createPlace()
  const clock = createManualClock()
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

  const close = async () => {
    const last = opened
    opened = undefined
    await last?.store.close()
  }

  t.after(async () => {
    await Promise.all(joined.map((store) => store.close()))
    await close()
    await place.check()
    await place.remove()
  })

  return {
    clock,
    mintId: createIdMinter(clock.now),
    location: place.location,
    get store() {
      return current().store
    },
    fault: (fault) => current().fault(fault),
    close,
    async open(options = {}) {
      await close()
      lastOptions = { ...defaults, ...options }
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
  }
}
