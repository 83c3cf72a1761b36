/** Measures, for tests, how long work holds the event loop. */

import { processorMs } from './processor-time.ts'

/** What the work answered, and how the event loop went on meanwhile. */
export interface Watched<Result> {
  readonly result: Result
  /** How often the event loop went round before the work ended. */
  readonly iterations: number
  /** The most milliseconds between two iterations: of the processor, so that other work on the machine does not count. */
  readonly longest: number
}

/** Ends with work that fails, too: an immediate that asks for the next one would keep the process alive for ever. */
export async function watchEventLoop<Result>(work: () => Result | Promise<Result>): Promise<Watched<Result>> {
  let iterations = 0
  let longest = 0
  let last = processorMs()
  let isOver = false
  const look = (): void => {
    const now = processorMs()
    longest = Math.max(longest, now - last)
    last = now
    if (isOver) return
    iterations += 1
    setImmediate(look)
  }
  setImmediate(look)
  try {
    const result = await work()
    const iterationsBeforeEnd = iterations
    // The way from the last iteration to the end of the work counts as well.
    await new Promise(setImmediate)
    return { result, iterations: iterationsBeforeEnd, longest }
  } finally {
    isOver = true
  }
}
