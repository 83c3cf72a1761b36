/** Owns keeping to a pace: how long the next message has to wait so that no window of time holds more than it may. */

import type { Pace } from '@reveille/kit'

export interface SlidingWindow {
  /** Milliseconds; 0 for now. */
  waitMs(pace: Pace, now: number): number
  take(pace: Pace, now: number): void
  /** When the last message was sent. */
  lastAt(): number
}

/** Remembers as many messages as the pace counts, and no more. */
export function createSlidingWindow(): SlidingWindow {
  let times: number[] = []

  return {
    waitMs({ count, ms }, now) {
      const oldest = times.at(-Math.max(1, count))
      // Never longer than the window, whatever becomes of the clock.
      return oldest === undefined ? 0 : Math.min(ms, Math.max(0, oldest + ms - now))
    },
    take({ count }, now) {
      times = [...times, now].slice(-Math.max(1, count))
    },
    lastAt: () => times.at(-1) ?? Number.NEGATIVE_INFINITY,
  }
}

/** Of one channel, a window for each target. */
export interface TargetWindows {
  of(target: string, pace: Pace, now: number): SlidingWindow
}

/** Targets that are remembered at one time; the one that was sent something longest ago goes first. */
const mostTargets = 10_000

export function createTargetWindows(): TargetWindows {
  /** In the order in which they were last asked for. */
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
