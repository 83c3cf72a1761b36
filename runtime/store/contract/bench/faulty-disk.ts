/** The ways in which a disk can fail. */

import type { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { Store, StoreOptions } from '../../port.ts'
import { openSqliteStore, ownThreads } from '../../sqlite/store.ts'

export type Fault =
  /** No page can be added until `disk-freed`. */
  | 'disk-full'
  | 'disk-freed'
  /** The next COMMIT reports an I/O error and has not happened. */
  | 'commit-fails'
  /** The next COMMIT reports an I/O error and has happened. */
  | 'answer-lost'
  /** The next COMMIT ends only when the memory holds 1 in its first place and was notified. */
  | { readonly commitHangs: Int32Array<SharedArrayBuffer> }
  /** The writer's thread dies of an uncaught error. */
  | 'thread-dies'

export function createFaultyDisk() {
  let next: Fault | undefined
  let db: DatabaseSync | undefined
  return {
    ask(fault: Fault) {
      if (fault === 'disk-full') db?.exec('PRAGMA max_page_count = 1')
      else if (fault === 'disk-freed') db?.exec('PRAGMA max_page_count = 4294967294')
      else if (fault === 'thread-dies') setImmediate(die)
      else next = fault
    },
    /** Runs the COMMIT, or the requested failure instead. */
    commit(run: () => void, on: DatabaseSync) {
      db = on
      const fault = next
      next = undefined
      if (typeof fault === 'object') Atomics.wait(fault.commitHangs, 0, 0)
      if (fault !== 'commit-fails') run()
      if (fault === 'commit-fails' || fault === 'answer-lost')
        throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
    },
  }
}

function die(): never {
  throw new Error('as a test asked for')
}

/** Returns what makes the disk of a store fail, after what was handed in before. */
export function faultOf<Asked>(store: Store, ask: (fault: Asked) => void) {
  return async (fault: Asked): Promise<void> => {
    await store.command({ type: 'expedite', task: 'none', dueAt: 0 }).catch(() => undefined)
    ask(fault)
  }
}

/** Opens a store with threads of its own, whose disk fails as a test asks for it. */
export async function openFaultyStore(options: StoreOptions) {
  const program = new URL('./faulty-writer.ts', import.meta.url)
  let writer: Worker | undefined
  const startWriter = (workerData: unknown) => (writer = new Worker(program, { workerData }))
  const store = await openSqliteStore(options, { ...ownThreads, startWriter })
  return { store, fault: faultOf(store, (fault: Fault) => writer?.postMessage({ type: 'fault', fault })) }
}
