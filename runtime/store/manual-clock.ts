/** A clock for tests: time stands still until it is moved, and then the timers that are due run. */

import type { SetTimer } from './port.ts'

export interface ManualClock {
  now(): number
  readonly setTimer: SetTimer
  /** Moves the time forward and runs every timer that is due by then, in order. */
  advance(ms: number): void
}

interface Timer {
  readonly at: number
  readonly run: () => void
}

export function createManualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  const timers = new Set<Timer>()
  let time = start

  function nextDue(until: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of timers) {
      if (timer.at <= until && (next === undefined || timer.at < next.at)) next = timer
    }
    return next
  }

  return {
    now: () => time,
    setTimer(run, ms) {
      const timer = { at: time + ms, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    advance(ms) {
      const until = time + ms
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        timers.delete(timer)
        time = Math.max(time, timer.at)
        timer.run()
      }
      time = until
    },
  }
}
