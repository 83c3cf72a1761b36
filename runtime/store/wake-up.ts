/** The one timer that wakes the writer at due times. The writer's thread blocks on its port and cannot wait itself. */

import type { SetTimer } from './port.ts'

/** Timers overflow at 2^31 ms. A wake-up that comes early does no harm. */
const maxDelayMs = 86_400_000

export function createWakeUp(now: () => number, setTimer: SetTimer, wake: () => void) {
  let current = Number.POSITIVE_INFINITY
  let cancel: (() => void) | undefined

  return {
    /** Replaces the time that was set before; Infinity for none. */
    at(time: number) {
      if (time === current) return
      cancel?.()
      cancel = undefined
      current = time
      if (time === Number.POSITIVE_INFINITY) return
      const delay = Math.min(maxDelayMs, Math.max(0, time - now()))
      cancel = setTimer(() => {
        current = Number.POSITIVE_INFINITY
        wake()
      }, delay)
    },
    close() {
      cancel?.()
    },
  }
}

export const setSystemTimer: SetTimer = (run, ms) => {
  const timer = setTimeout(run, ms)
  timer.unref()
  return () => clearTimeout(timer)
}
