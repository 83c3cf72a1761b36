/** A clock for tests. Its time changes only by `advance`, which runs the timers that are due by then. */

export type ManualClock = ReturnType<typeof createManualClock>

interface Timer {
  readonly at: number
  readonly run: () => void
}

export function createManualClock(start = Date.UTC(2026, 0, 1)) {
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
    setTimer(run: () => void, ms: number) {
      const timer = { at: time + ms, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    /** Moves the time forward and runs every timer that is due by then, in order. */
    advance(ms: number) {
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
