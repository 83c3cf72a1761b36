/** Defines the timers that enter as a parameter, so that tests decide when time is up. */

export interface Timers {
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

export const realTimers: Timers = {
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
}

/** Timers that do not keep the process alive. */
export const backgroundTimers: Timers = {
  ...realTimers,
  setTimeout: (callback, ms) => setTimeout(callback, ms).unref(),
}
