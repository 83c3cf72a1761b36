/** Measures for tests how long work holds the event loop. */

/** The result of the work, and how the event loop ran meanwhile. */
export interface Watched<Result> {
  readonly result: Result
  /** The number of iterations of the event loop before the work ended. */
  readonly iterations: number
  /**
   * Maximum time between two iterations, in milliseconds of processor time in user mode. Other work on the machine does not count,
   * nor does the kernel's: while it takes back the memory of a thread that was ended, the process cannot map more.
   */
  readonly longest: number
}

/** Also stops if the work fails, because an immediate that schedules the next one would keep the process alive forever. */
export async function watchEventLoop<Result>(work: () => Result | Promise<Result>): Promise<Watched<Result>> {
  let iterations = 0
  let longest = 0
  let last = userMs()
  let isOver = false
  const look = (): void => {
    const now = userMs()
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
    // The time between the last iteration and the end of the work counts as well.
    await new Promise(setImmediate)
    return { result, iterations: iterationsBeforeEnd, longest }
  } finally {
    isOver = true
  }
}

const userMs = () => process.threadCpuUsage().user / 1000
