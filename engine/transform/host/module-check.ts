/**
 * Loads the modules of a candidate, one after the other in one thread, to see whether they can be loaded and what they
 * export; then the thread is ended. A module that fails in a thread which others have used is loaded again in a new
 * one: what another module left there is not its fault.
 */

import type { TransformLimits } from '../../config/settings.ts'
import type { WorkerThread } from '../worker/protocol.ts'
import {
  createModuleWorker,
  type Loaded,
  type ModuleWorkerOptions,
  type WorkerOwner,
} from './module-worker.ts'

export interface CheckedModule {
  /** What its worker needs besides a thread. */
  readonly options: Omit<ModuleWorkerOptions, 'thread' | 'owner'>
  readonly limits: TransformLimits
  checked(loaded: Loaded): void
}

/** A thread that holds more than this after a module is not used for another one. Bytes. */
const maxHeld = 100 * 1_048_576

/** `isGivenUp`: whether the results are not needed any more. Never rejects. */
export async function checkModules(
  modules: readonly CheckedModule[],
  take: () => WorkerThread,
  isGivenUp: () => boolean,
): Promise<void> {
  /** The thread that has loaded modules, and may load another one. */
  let shared: WorkerThread | undefined

  async function load({ options, limits }: CheckedModule): Promise<Loaded> {
    const thread = shared ?? take()
    shared = thread
    const giveUp = () => {
      if (shared === thread) shared = undefined
    }
    const owner: WorkerOwner = {
      ended: giveUp,
      ...{ idle() {}, takenBack() {}, lost() {}, abandoned() {}, returned() {} },
    }
    const loaded = await createModuleWorker({ ...options, thread, owner }).load(limits.memoryMb)
    if (loaded.ok && loaded.memory >= maxHeld) await stop()
    return loaded
  }

  async function stop(): Promise<void> {
    const stopped = shared
    shared = undefined
    await stopped?.end()
  }

  for (const module of modules) {
    if (isGivenUp()) break
    const wasUsed = shared !== undefined
    let loaded = await load(module)
    if (!loaded.ok && wasUsed) {
      await stop()
      loaded = await load(module)
    }
    module.checked(loaded)
  }
  await stop()
}
