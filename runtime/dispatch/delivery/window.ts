/** Keeps a pace: says how long the next message has to wait so that no window of time holds too many. */

import type { Pace } from '@reveille/kit'

export interface SlidingWindow {
  /** Returns the wait in milliseconds; 0 if a message may be sent now. */
  waitMs(pace: Pace, now: number): number
  /** Counts a message that is sent now. */
  take(pace: Pace, now: number): void
  /** Returns when the last message was sent. */
  lastAt(): number
}

/** Remembers only as many messages as the pace counts. */
export function createSlidingWindow(): SlidingWindow {
  let times: number[] = []

  return {
    waitMs({ count, ms }, now) {
      const oldest = times.at(-Math.max(1, count))
      // The wait is never longer than the window, even if the clock is set back.
      return oldest === undefined ? 0 : Math.min(ms, Math.max(0, oldest + ms - now))
    },
    take({ count }, now) {
      times = [...times, now].slice(-Math.max(1, count))
    },
    lastAt: () => times.at(-1) ?? Number.NEGATIVE_INFINITY,
  }
}

/** One window for each target of a channel. */
export interface TargetWindows {
  of(target: string, pace: Pace, now: number): SlidingWindow
}

/** How many targets are remembered. The one that was asked for longest ago is dropped first. */
const mostTargets = 10_000

export function createTargetWindows(): TargetWindows {
  /** The targets are in the order in which they were last asked for. */
  const windows = new Map<string, SlidingWindow>()

  function forgetOld(pace: Pace, now: number) {
    for (const [target, window] of windows) {
      if (windows.size <= mostTargets && window.lastAt() + pace.ms > now) return
      windows.delete(target)
    }
  }

  return {
    of(target, pace, now) {
      const window = windows.get(target) ?? createSlidingWindow()
      windows.delete(target)
      forgetOld(pace, now)
      windows.set(target, window)
      return window
    },
  }
}
