/** Creates a clock that runs a hundred times as fast as real time, for tests of waits of seconds. */

const speed = 100

export function createQuickClock() {
  const begun = Date.now()
  const timers = new Set<NodeJS.Timeout>()
  return {
    now: () => begun + (Date.now() - begun) * speed,
    /** Number of pending sleeps. */
    get sleeping() {
      return timers.size
    },
    async sleep(ms: number, signal: AbortSignal) {
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const abort = () => reject(signal.reason)
      const timer = setTimeout(resolve, Math.min(ms / speed, 2 ** 31 - 1))
      timers.add(timer)
      signal.addEventListener('abort', abort)
      try {
        await promise
      } finally {
        clearTimeout(timer)
        timers.delete(timer)
        signal.removeEventListener('abort', abort)
      }
    },
    /** Drops all sleeps, so that none of them ends. */
    close() {
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
    },
  }
}
