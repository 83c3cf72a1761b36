/**
 * Watches the memory of running workers. V8's own limit ends the process, and does not count buffers; so a running
 * worker is asked how much it holds, garbage included, and is ended when that is too much.
 */

import type { Timers } from '../../timers.ts'
import type { Thread } from './thread.ts'

const checkMs = 50
/** The garbage that V8 leaves in a worker before it collects: 80 to 120 MB were seen in programs that hold next to nothing. */
const garbageBytes = 160 * 1_048_576
/** What is above the limit in so many checks in a row, which take two seconds, is not garbage. */
const mostChecks = 40

interface Watched {
  readonly thread: Thread
  readonly limitMb: number
  exceeded(): void
}

export interface MemoryWatch {
  add(worker: object, watched: Watched): void
  remove(worker: object): void
  close(): void
}

export function createMemoryWatch(timers: Timers): MemoryWatch {
  /** `excess` counts the checks in a row that found too much. */
  const running = new Map<
    object,
    { readonly watched: Watched; excess: number; state: 'new' | 'asked' | 'known' }
  >()
  let timer: unknown

  function check(): void {
    timer = undefined
    for (const [worker, entry] of running) {
      // Most calls end before the first check.
      if (entry.state === 'new') entry.state = 'known'
      else if (entry.state === 'known') {
        entry.state = 'asked'
        void entry.watched.thread.memory().then((bytes) => {
          entry.state = 'known'
          if (bytes !== undefined && running.get(worker) === entry) judge(entry, bytes)
        })
      }
    }
    if (running.size > 0) timer = timers.setTimeout(check, checkMs)
  }

  function judge(entry: { readonly watched: Watched; excess: number }, bytes: number): void {
    const limit = entry.watched.limitMb * 1_048_576
    entry.excess = bytes > limit ? entry.excess + 1 : 0
    if (bytes > limit + garbageBytes || entry.excess >= mostChecks) entry.watched.exceeded()
  }

  return {
    add(worker, watched) {
      running.set(worker, { watched, excess: 0, state: 'new' })
      timer ??= timers.setTimeout(check, checkMs)
    },
    remove: (worker) => void running.delete(worker),
    close: () => timers.clearTimeout(timer),
  }
}
