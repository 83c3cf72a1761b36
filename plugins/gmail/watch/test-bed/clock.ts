/** Provides a clock that moves to the end of the shortest sleep when nothing else happens. */

interface Sleeper {
  readonly at: number
  wake(): void
}

const start = Date.UTC(2026, 0, 5, 12)
const hourMs = 3_600_000
const maxLooks = 200

export function createTestClock() {
  const sleepers = new Set<Sleeper>()
  let passed = 0
  let offset = 0

  /** Resolves when nothing more happens without time passing. */
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

  /** Of sleeps that end at the same time, the first that began comes first. */
  function next(): Sleeper | undefined {
    let first: Sleeper | undefined
    for (const sleeper of sleepers) if (!first || sleeper.at < first.at) first = sleeper
    return first
  }

  return {
    now: () => start + offset + passed,
    /** Milliseconds that have passed, however the clock was set. */
    get passed() {
      return passed
    },
    /** Sets the clock by this many milliseconds, forward or back, as a person would. */
    set(byMs: number): void {
      offset += byMs
    },
    settle,
    sleep(ms: number, signal: AbortSignal): Promise<void> {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        const end = () => {
          sleepers.delete(sleeper)
          reject(signal.reason)
        }
        const wake = () => {
          sleepers.delete(sleeper)
          signal.removeEventListener('abort', end)
          resolve()
        }
        const sleeper = { at: passed + Math.max(0, ms), wake }
        sleepers.add(sleeper)
        signal.addEventListener('abort', end, { once: true })
      })
    },
    /**
     * Moves on until the condition holds. @throws Error if it does not within this time, or if nothing sleeps any more
     */
    async until(holds: () => boolean, withinMs = hourMs): Promise<void> {
      const limit = passed + withinMs
      for (let looks = 0; ; looks++) {
        await settle()
        if (holds()) return
        const sleeper = next()
        // The condition itself may have started something.
        if (!sleeper && looks < maxLooks) continue
        if (!sleeper) throw new Error('It does not hold, and nothing sleeps any more.')
        looks = 0
        if (sleeper.at > limit) throw new Error(`It does not hold after ${withinMs} ms.`)
        passed = sleeper.at
        sleeper.wake()
      }
    },
    /** Moves on by this many milliseconds. */
    async pass(ms: number): Promise<void> {
      const end = passed + ms
      await settle()
      for (let sleeper = next(); sleeper && sleeper.at <= end; sleeper = next()) {
        passed = sleeper.at
        sleeper.wake()
        await settle()
      }
      passed = end
    },
  }
}
