/**
 * Watches busy threads: how much processor time they take, and how much memory they hold. V8's own limit ends the process, and
 * does not count buffers; so a busy thread is asked how much it holds, garbage included.
 */

import type { ResourceLimits, Worker } from 'node:worker_threads'
import type { Timers } from '../timers.ts'

/**
 * V8 ends the whole process when one allocation finds no room below a worker's limit: a list of a hundred thousand
 * objects that grows is enough. So V8's limit is out of reach, and the watch enforces the real one. A larger young
 * generation leaves twice the garbage between two collections.
 */
export const threadLimits: ResourceLimits = {
  maxOldGenerationSizeMb: 70_000,
  maxYoungGenerationSizeMb: 16,
}

export interface ThreadUsage {
  /** Memory of the thread, garbage included. */
  readonly bytes: number
  /** The processor time since the thread started. */
  readonly processorMs: number
}

/** Returns undefined if the worker has ended. Waits while it is in native code, or is kept from the processor. */
export async function usageOf(worker: Worker): Promise<ThreadUsage | undefined> {
  try {
    const [{ used_heap_size, external_memory }, processorMs] = await Promise.all([
      worker.getHeapStatistics(),
      processorMsOf(worker),
    ])
    return { bytes: used_heap_size + external_memory, processorMs }
  } catch {
    return undefined
  }
}

/** Node 24.5 and older only have the clock. */
async function processorMsOf(worker: Partial<Worker>): Promise<number> {
  if (worker.cpuUsage === undefined) return performance.now()
  const { user, system } = await worker.cpuUsage()
  return (user + system) / 1000
}

/** Milliseconds between checks of busy threads. */
export const checkMs = 50
/** The garbage that V8 leaves in a worker before it collects: 80 to 120 MB were seen in programs that hold next to nothing. */
const garbageBytes = 160 * 1_048_576
/** Number of checks in a row, over two seconds, after which memory above the limit is not garbage. */
const maxChecks = 40

interface Watched {
  readonly thread: { usage(): Promise<ThreadUsage | undefined> }
  readonly limitMb: number
  /** Called every `checkMs`, and with the thread's processor time each time that it is known. Milliseconds. */
  check?(processorMs?: number): void
  /** Called when the thread holds too much. */
  exceeded(): void
}

export interface ThreadWatch {
  add(worker: object, watched: Watched): void
  remove(worker: object): void
  close(): void
}

export function createThreadWatch(timers: Timers): ThreadWatch {
  /** `excess` counts the checks in a row that found too much. */
  const running = new Map<object, { readonly watched: Watched; excess: number; isAsked: boolean }>()
  let timer: unknown

  function check(): void {
    timer = undefined
    for (const [worker, entry] of running) {
      entry.watched.check?.()
      if (entry.isAsked) continue
      entry.isAsked = true
      void entry.watched.thread.usage().then((usage) => {
        entry.isAsked = false
        if (usage === undefined || running.get(worker) !== entry) return
        entry.watched.check?.(usage.processorMs)
        judge(entry, usage.bytes)
      })
    }
    if (running.size > 0) timer = timers.setTimeout(check, checkMs)
  }

  function judge(entry: { readonly watched: Watched; excess: number }, bytes: number): void {
    const limit = entry.watched.limitMb * 1_048_576
    entry.excess = bytes > limit ? entry.excess + 1 : 0
    if (bytes > limit + garbageBytes || entry.excess >= maxChecks) entry.watched.exceeded()
  }

  return {
    add(worker, watched) {
      running.set(worker, { watched, excess: 0, isAsked: false })
      timer ??= timers.setTimeout(check, checkMs)
    },
    remove: (worker) => void running.delete(worker),
    close: () => timers.clearTimeout(timer),
  }
}
