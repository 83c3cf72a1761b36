/** Owns doing at most so many things at one time. */

export type Limit = <Value>(task: () => Promise<Value>) => Promise<Value>

export function createLimit(most: number): Limit {
  const waiting: (() => void)[] = []
  let running = 0
  return async (task) => {
    if (running === most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await task()
    } finally {
      // Whoever waits takes over this place.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
