/** Owns giving everything else its turn: whatever works for long asks here between two pieces of it. */

/** How long work goes on before everything else has a turn. Milliseconds. */
const sliceMs = 10

/** Work that has had its time, the longest waiting first. There is one event loop, so there is one queue. */
const waiting: (() => void)[] = []
/** When the work of this turn of the event loop has had its time; 0: none has asked in it. */
let turnEnds = 0

/** Nothing while there is time left; else what resolves when it is the asker's turn again. */
export function takeTurn(): Promise<void> | undefined {
  const now = performance.now()
  if (now < turnEnds) return undefined
  if (turnEnds === 0) {
    beginTurn(now)
    return undefined
  }
  return new Promise((resolve) => waiting.push(resolve))
}

/** Resolves when everything else that waits now has had a turn: one piece of work at a time has the next. */
export function nextTurn(): Promise<void> {
  if (turnEnds === 0) beginTurn(performance.now())
  return new Promise((resolve) => waiting.push(resolve))
}

function beginTurn(now: number): void {
  turnEnds = now + sliceMs
  setImmediate(endTurn)
}

function endTurn(): void {
  turnEnds = 0
  const resume = waiting.shift()
  if (resume === undefined) return
  beginTurn(performance.now())
  resume()
}
