/** Keeps a pace: says how long the next message has to wait so that no window of time holds too many. */

import { BoundedMap, type Pace } from '@reveille/kit'

export type SlidingWindow = ReturnType<typeof createSlidingWindow>

/** Remembers only as many messages as the pace counts. */
export function createSlidingWindow() {
  let times: number[] = []

  return {
    /** Returns the wait in milliseconds; 0 if a message may be sent now. */
    waitMs({ count, ms }: Pace, now: number): number {
      const oldest = times.at(-Math.max(1, count))
      // The wait is never longer than the window, even if the clock is set back.
      return oldest === undefined ? 0 : Math.min(ms, Math.max(0, oldest + ms - now))
    },
    /** Counts a message that is sent now. */
    take({ count }: Pace, now: number) {
      times = [...times, now].slice(-Math.max(1, count))
    },
  }
}

/** Maximum number of remembered targets. The least recently used one is dropped first. */
const maxTargets = 10_000

/** Keeps one window for each target of a channel. */
export function createTargetWindows() {
  const windows = new BoundedMap<string, SlidingWindow>(maxTargets)
  return {
    of(target: string): SlidingWindow {
      const window = windows.get(target) ?? createSlidingWindow()
      // The target that was asked for last is the last one.
      windows.delete(target)
      windows.set(target, window)
      return window
    },
  }
}
