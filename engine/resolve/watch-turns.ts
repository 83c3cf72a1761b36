/** Watches, for tests, whether the event loop goes round while something is under way. */

import { processorMs } from './processor-time.ts'

/** What was seen, beside what the work gave. */
export interface Watched<Result> {
  readonly result: Result
  /** Turns of the event loop that everything else had before the work ended. */
  readonly turns: number
  /** Milliseconds between two turns at most: of the processor, so that other work on the machine does not count. */
  readonly longest: number
}

/** Ends with work that fails, too: an immediate that asks for the next one would keep the process for ever. */
export async function watchTurns<Result>(work: () => Result | Promise<Result>): Promise<Watched<Result>> {
  let turns = 0
  let longest = 0
  let last = processorMs()
  let isOver = false
  const look = (): void => {
    const now = processorMs()
    longest = Math.max(longest, now - last)
    last = now
    if (isOver) return
    turns += 1
    setImmediate(look)
  }
  setImmediate(look)
  try {
    const result = await work()
    const turnsBeforeEnd = turns
    // The way from the last turn to the end of the work counts as well.
    await new Promise(setImmediate)
    return { result, turns: turnsBeforeEnd, longest }
  } finally {
    isOver = true
  }
}
