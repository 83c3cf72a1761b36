/** Waits for a short time, or until one of the signals is aborted. */

import type { Timers } from '@reveille/engine'

export function pause(ms: number, stops: readonly AbortSignal[], timers: Timers): Promise<void> {
  if (ms <= 0 || stops.some((signal) => signal.aborted)) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = timers.setTimeout(end, ms)
    for (const signal of stops) signal.addEventListener('abort', end, { once: true })
    function end() {
      timers.clearTimeout(timer)
      for (const signal of stops) signal.removeEventListener('abort', end)
      resolve()
    }
  })
}
