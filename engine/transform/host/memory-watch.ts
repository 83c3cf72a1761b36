/**
 * Owns the memory limit while calls run. V8's own limit ends the process, and knows nothing of buffers; so a running
 * worker is asked what it holds, garbage included, and is ended when that is too much.
 */

import type { Timers } from '../../timers.ts'
import type { Thread } from './thread.ts'

const lookMs = 50
/** What V8 lets lie in a worker before it collects: 80 to 120 MB were seen of programs that hold next to nothing. */
const garbageBytes = 160 * 1_048_576
/** So many looks in a row above the limit, two seconds of them, are no garbage. */
const mostLooks = 40

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
  /** With the looks that found too much; undefined while an answer is awaited or the first look is to come. */
  const running = new Map<
    object,
    { readonly watched: Watched; looks: number; state: 'new' | 'asked' | 'known' }
  >()
  let timer: unknown

  function look(): void {
    timer = undefined
    for (const [worker, entry] of running) {
      // Most calls are over before they are looked at.
      if (entry.state === 'new') entry.state = 'known'
      else if (entry.state === 'known') {
        entry.state = 'asked'
        void entry.watched.thread.memory().then((bytes) => {
          entry.state = 'known'
          if (bytes !== undefined && running.get(worker) === entry) judge(entry, bytes)
        })
      }
    }
    if (running.size > 0) timer = timers.setTimeout(look, lookMs)
  }

  function judge(entry: { readonly watched: Watched; looks: number }, bytes: number): void {
    const limit = entry.watched.limitMb * 1_048_576
    entry.looks = bytes > limit ? entry.looks + 1 : 0
    if (bytes > limit + garbageBytes || entry.looks >= mostLooks) entry.watched.exceeded()
  }

  return {
    add(worker, watched) {
      running.set(worker, { watched, looks: 0, state: 'new' })
      timer ??= timers.setTimeout(look, lookMs)
    },
    remove: (worker) => void running.delete(worker),
    close: () => timers.clearTimeout(timer),
  }
}
