/**
 * Starts the threads of workers, and keeps a spare one for a minute after one was needed: a thread takes some 50 ms to start, and longer
 * on a busy machine, while a module, or the replacement of a worker that hangs, takes a few.
 */

import { startThread } from '../../threads/thread.ts'
import type { Timers } from '../../timers.ts'
import { workerProgram } from '../worker/program.ts'
import type { WorkerThread } from '../worker/protocol.ts'

/** The processor is busy right after a reload or a lost worker. */
const refillMs = 100
const idleMs = 60_000

export interface WorkerThreads {
  /** Returns a thread that has no module yet: the spare one, or one that starts now. */
  take(): WorkerThread
  close(): Promise<void>
}

export function createWorkerThreads(timers: Timers): WorkerThreads {
  let spare: WorkerThread | undefined
  let timer: unknown

  function start(): WorkerThread {
    return startThread({ program: workerProgram, name: 'transform', timers })
  }

  function refill(): void {
    const started = start()
    spare = started
    started.owner = {
      heard() {},
      lost() {
        if (spare === started) spare = undefined
      },
    }
    timer = timers.setTimeout(() => void drop(), idleMs)
  }

  async function drop(): Promise<void> {
    timers.clearTimeout(timer)
    const dropped = spare
    spare = undefined
    await dropped?.end()
  }

  return {
    take() {
      const taken = spare ?? start()
      spare = undefined
      taken.keepAlive(true)
      timers.clearTimeout(timer)
      timer = timers.setTimeout(refill, refillMs)
      return taken
    },
    close: drop,
  }
}
