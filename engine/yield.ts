/** Cooperative scheduling: long work asks here between two of its steps whether to let the event loop go on. */

/** Milliseconds that work goes on before it yields. */
const sliceMs = 10

/** The same for work that no request waits for, such as loading and compiling: requests are to fit in beside it. */
export const backgroundMs = 4

/** Work that has yielded, the longest waiting first. There is one event loop, so there is one queue. */
const waiting: (() => void)[] = []
/** When the work of this iteration of the event loop began; undefined: none has asked in it. */
let begun: number | undefined

/** Returns nothing while there is time left, or else what resolves when the work may go on. `ms`: 10 at most. */
export function yieldIfDue(ms = sliceMs): Promise<void> | undefined {
  const now = performance.now()
  if (begun === undefined) {
    beginIteration(now)
    return undefined
  }
  return now < begun + ms ? undefined : new Promise((resolve) => waiting.push(resolve))
}

/** Resolves after everything else that waits now has run: one piece of work goes on in each iteration. */
export function yieldToEventLoop(): Promise<void> {
  if (begun === undefined) beginIteration(performance.now())
  return new Promise((resolve) => waiting.push(resolve))
}

function beginIteration(now: number): void {
  begun = now
  setImmediate(endIteration)
}

function endIteration(): void {
  begun = undefined
  const resume = waiting.shift()
  if (resume === undefined) return
  beginIteration(performance.now())
  resume()
}
