/** Owns giving everything else its turn: whatever works for long asks here between two pieces of it. */

/** How long work goes on before everything else has a turn. Milliseconds. */
const sliceMs = 10

/** The same for work that nobody's request waits for, loading and compiling: others are to fit in beside it. Milliseconds. */
export const backgroundMs = 4

/** Work that has had its time, the longest waiting first. There is one event loop, so there is one queue. */
const waiting: (() => void)[] = []
/** When the work of this turn of the event loop began; undefined: none has asked in it. */
let begun: number | undefined

/** Nothing while there is time left; else what resolves when it is the asker's turn again. `ms`: 10 at most. */
export function takeTurn(ms = sliceMs): Promise<void> | undefined {
  const now = performance.now()
  if (begun === undefined) {
    beginTurn(now)
    return undefined
  }
  return now < begun + ms ? undefined : new Promise((resolve) => waiting.push(resolve))
}

/** Resolves when everything else that waits now has had a turn: one piece of work at a time has the next. */
export function nextTurn(): Promise<void> {
  if (begun === undefined) beginTurn(performance.now())
  return new Promise((resolve) => waiting.push(resolve))
}

/** Does in short steps what yields between two of them. */
export async function inTurns<Made>(steps: Generator<void, Made>): Promise<Made> {
  for (;;) {
    await takeTurn(backgroundMs)
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The same without turns, for what must be there at once. */
export function atOnce<Made>(steps: Generator<void, Made>): Made {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

function beginTurn(now: number): void {
  begun = now
  setImmediate(endTurn)
}

function endTurn(): void {
  begun = undefined
  const resume = waiting.shift()
  if (resume === undefined) return
  beginTurn(performance.now())
  resume()
}
