/**
 * Keeps one warm spare: a thread that has no module yet. A thread takes some 50 ms to start and a module a few to be
 * loaded, so a module that needs a worker has one at once, for the memory of one thread in the whole process.
 */

import type { Timers } from '../../timers.ts'
import { startThread, type Thread } from './thread.ts'

/** A new spare starts a little later, because the processor is busy right after a reload or a lost worker. */
const refillMs = 50

export interface WarmSpare {
  /** Returns the spare at once; without one, a thread that starts now. */
  take(): Thread
  /** Whether there is to be a spare. */
  keep(wanted: boolean): void
  close(): Promise<void>
}

export function createWarmSpare(timers: Timers): WarmSpare {
  let spare: Thread | undefined
  let isWanted = false
  let timer: unknown

  function refill(): void {
    timer ??= timers.setTimeout(() => {
      timer = undefined
      if (!isWanted || spare !== undefined) return
      const started = startThread(timers)
      spare = started
      started.owner = {
        heard() {},
        lost() {
          if (spare === started) spare = undefined
        },
      }
    }, refillMs)
  }

  async function drop(): Promise<void> {
    timers.clearTimeout(timer)
    timer = undefined
    const dropped = spare
    spare = undefined
    await dropped?.stop()
  }

  return {
    take() {
      const taken = spare ?? startThread(timers)
      spare = undefined
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
