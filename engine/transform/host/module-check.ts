/**
 * Loads the modules of a candidate, one after the other in one thread, to see whether they can be loaded and what they
 * export; then the thread is ended. A module that fails in a thread which others have used is loaded again in a new
 * one: what another module left there is not its fault.
 */

import type { WorkerThread } from '../worker/protocol.ts'
import { type Loaded, ModuleWorker, type ModuleWorkerOptions } from './module-worker.ts'
import type { WorkerThreads } from './worker-threads.ts'

export interface CheckedModule extends Omit<ModuleWorkerOptions, 'thread' | 'owner'> {
  readonly memoryMb: number
}

/** A thread that holds more than this after a module is not used for another one. Bytes. */
const maxHeld = 100 * 1_048_576

/** Yields the result of each module. */
export async function* checkModules(
  modules: readonly CheckedModule[],
  threads: WorkerThreads,
): AsyncIterable<Loaded> {
  /** The thread that has loaded modules, and may load another one. */
  let shared: WorkerThread | undefined

  async function load(module: CheckedModule): Promise<Loaded> {
    const thread = shared ?? threads.take()
    shared = thread
    const ended = () => {
      if (shared === thread) shared = undefined
    }
    const owner = { ended, ...{ idle() {}, lost() {}, abandoned() {} } }
    const loaded = await new ModuleWorker({ ...module, thread, owner }).load(module.memoryMb)
    if (loaded.ok && loaded.memory >= maxHeld) await stop()
    return loaded
  }

  async function stop(): Promise<void> {
    const stopped = shared
    shared = undefined
    await stopped?.end()
  }

  try {
    for (const module of modules) {
      const wasUsed = shared !== undefined
      let loaded = await load(module)
      if (!loaded.ok && wasUsed) {
        await stop()
        loaded = await load(module)
      }
      yield loaded
    }
  } finally {
    await stop()
  }
}
