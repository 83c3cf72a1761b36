/** Owns the ways a disk can fail, so that tests can ask for them. Nothing in the product does. */

import type { DatabaseSync } from 'node:sqlite'

export type Fault =
  /** No page can be added until `disk-freed`. */
  | 'disk-full'
  | 'disk-freed'
  /** The next COMMIT reports an I/O error and has not happened. */
  | 'commit-fails'
  /** The next COMMIT reports an I/O error and has happened. */
  | 'answer-lost'
  /** The same, and something happens with it. Of use where the writer has no thread of its own. */
  | { readonly answerLostWith: () => void }
  /** The next COMMIT does not end before the memory says otherwise: 1 in its first place, and a notification. */
  | { readonly commitHangs: Int32Array<SharedArrayBuffer> }
  /** The writer's thread dies of an error that nobody caught. */
  | 'thread-dies'

export interface FaultyDisk {
  ask(fault: Fault, db: DatabaseSync): void
  /** Runs the COMMIT, or what was asked for instead of it. */
  commit(run: () => void): void
}

export function createFaultyDisk(): FaultyDisk {
  let next: Fault | undefined
  return {
    ask(fault, db) {
      if (fault === 'disk-full') db.exec('PRAGMA max_page_count = 1')
      else if (fault === 'disk-freed') db.exec('PRAGMA max_page_count = 4294967294')
      else if (fault === 'thread-dies') setImmediate(die)
      else next = fault
    },
    commit(run) {
      const fault = next
      next = undefined
      const [hangs, happens] =
        typeof fault === 'object' && 'commitHangs' in fault ? [fault.commitHangs] : [undefined, fault]
      if (hangs !== undefined) Atomics.wait(hangs, 0, 0)
      if (fault !== 'commit-fails') run()
      if (typeof happens === 'object') happens.answerLostWith()
      if (happens !== undefined) throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
    },
  }
}

function die(): never {
  throw new Error('as a test asked for')
}
