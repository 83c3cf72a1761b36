/** Simulates the ways in which a disk can fail. Only tests ask for them. */

import type { DatabaseSync } from 'node:sqlite'

export type Fault =
  /** No page can be added until `disk-freed`. */
  | 'disk-full'
  | 'disk-freed'
  /** The next COMMIT reports an I/O error and has not happened. */
  | 'commit-fails'
  /** The next COMMIT reports an I/O error and has happened. */
  | 'answer-lost'
  /** The next checkpoint reports an I/O error. */
  | 'checkpoint-fails'
  /** Acts as `answer-lost` and calls a function with it, for tests that run the writer without its thread. */
  | { readonly answerLostWith: () => void }
  /** The next COMMIT ends only when the memory holds 1 in its first place and was notified. */
  | { readonly commitHangs: Int32Array<SharedArrayBuffer> }
  /** The writer's thread dies of an uncaught error. */
  | 'thread-dies'

export function createFaultyDisk() {
  let next: Fault | undefined
  let checkpointFails = false
  return {
    ask(fault: Fault, db: DatabaseSync) {
      if (fault === 'checkpoint-fails') checkpointFails = true
      else if (fault === 'disk-full') db.exec('PRAGMA max_page_count = 1')
      else if (fault === 'disk-freed') db.exec('PRAGMA max_page_count = 4294967294')
      else if (fault === 'thread-dies') setImmediate(die)
      else next = fault
    },
    /** Runs the COMMIT, or the requested failure instead. */
    commit(run: () => void) {
      const fault = next
      next = undefined
      const [hangs, happens] =
        typeof fault === 'object' && 'commitHangs' in fault ? [fault.commitHangs] : [undefined, fault]
      if (hangs !== undefined) Atomics.wait(hangs, 0, 0)
      if (fault !== 'commit-fails') run()
      if (typeof happens === 'object') happens.answerLostWith()
      if (happens !== undefined) throw ioError()
    },
    checkpoint() {
      if (!checkpointFails) return
      checkpointFails = false
      throw ioError()
    },
  }
}

function ioError(): Error {
  return Object.assign(new Error('disk I/O error'), { errcode: 10 })
}

function die(): never {
  throw new Error('as a test asked for')
}
