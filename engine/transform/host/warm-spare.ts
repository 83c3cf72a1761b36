/**
 * Keeps one warm spare while modules are called: a thread that has no module yet. A thread takes some 50 ms to start and a
 * module a few to be loaded, so a module that needs a worker has one at once, for the memory of one thread in the whole
 * process.
 */

import { startThread } from '../../threads/thread.ts'
import type { Timers } from '../../timers.ts'
import { workerProgram } from '../worker/program.ts'
import { slots, type WorkerThread } from '../worker/protocol.ts'
import { isFromWorker } from './message-check.ts'

/** A new spare starts a little later, because the processor is busy right after a reload or a lost worker. */
const refillMs = 50
/** The first spare does not compete with the first worker, which a call waits for. */
const firstMs = 200
/** A reload ends the workers of a changed module, and the new ones start with its next call. */
const lingerMs = 60_000

/** A thread that is ended leaves within milliseconds, unless it is in native code. */
const abandonMs = 1_000

function startWorker(timers: Timers): WorkerThread {
  const thread: WorkerThread = startThread({
    program: workerProgram,
    name: 'transform',
    slots: Object.keys(slots).length,
    accepts: isFromWorker,
    abandonMs,
    timers,
  })
  thread.keepAlive(true)
  return thread
}

export interface WarmSpare {
  /** Returns the spare at once; without one, a thread that starts now. */
  take(): WorkerThread
  /** There is a spare until `release` has been called as often, and for a minute longer. */
  hold(): void
  release(): void
  close(): Promise<void>
}

export function createWarmSpare(timers: Timers): WarmSpare {
  let spare: WorkerThread | undefined
  let holders = 0
  let isWanted = false
  let refillTimer: unknown
  let lingerTimer: unknown

  function refill(ms = refillMs): void {
    refillTimer ??= timers.setTimeout(() => {
      refillTimer = undefined
      if (!isWanted || spare !== undefined) return
      const started = startWorker(timers)
      spare = started
      started.owner = {
        heard() {},
        lost() {
          if (spare === started) spare = undefined
        },
      }
    }, ms)
  }

  async function drop(): Promise<void> {
    isWanted = false
    for (const timer of [refillTimer, lingerTimer]) timers.clearTimeout(timer)
    refillTimer = lingerTimer = undefined
    const dropped = spare
    spare = undefined
    await dropped?.end()
  }

  return {
    take() {
      const taken = spare ?? startWorker(timers)
      spare = undefined
      if (isWanted) refill()
      return taken
    },
    hold() {
      holders++
      timers.clearTimeout(lingerTimer)
      lingerTimer = undefined
      if (isWanted) return
      isWanted = true
      refill(firstMs)
    },
    release() {
      if (--holders === 0 && isWanted) lingerTimer = timers.setTimeout(() => void drop(), lingerMs)
    },
    close: drop,
  }
}
