/**
 * Owns the thread in stock: one that has no module yet. A thread takes some 50 ms to start and a module a few to be
 * loaded, so that whoever needs a worker has one at once, for the memory of one thread in the whole process.
 */

import type { Timers } from '../../timers.ts'
import { startThread, type Thread } from './thread.ts'

/** The first moments after a reload or a lost worker are others'. */
const refillMs = 50

export interface BlankThreads {
  /** Never waits: without a stock it is one that starts now. */
  take(): Thread
  /** Whether somebody may want one soon. */
  keep(wanted: boolean): void
  close(): Promise<void>
}

export function createBlankThreads(timers: Timers): BlankThreads {
  let stock: Thread | undefined
  let isWanted = false
  let timer: unknown

  function refill(): void {
    timer ??= timers.setTimeout(() => {
      timer = undefined
      if (!isWanted || stock !== undefined) return
      const started = startThread(timers)
      stock = started
      started.owner = {
        heard() {},
        lost() {
          if (stock === started) stock = undefined
        },
      }
    }, refillMs)
  }

  async function drop(): Promise<void> {
    timers.clearTimeout(timer)
    timer = undefined
    const dropped = stock
    stock = undefined
    await dropped?.stop()
  }

  return {
    take() {
      const taken = stock ?? startThread(timers)
      stock = undefined
      if (isWanted) refill()
      return taken
    },
    keep(wanted) {
      isWanted = wanted
      if (wanted) refill()
      else void drop()
    },
    close() {
      isWanted = false
      return drop()
    },
  }
}
