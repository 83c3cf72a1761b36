/** Counts the tasks that workers perform within a slice, and how long a slot waits for its next task. */

export interface Performed {
  readonly ended: number
  readonly ms: number
  /** Milliseconds from the end of a task until its slot has the next one: settling, claiming, and the next of the lane. */
  readonly waits: readonly number[]
}

export function createSlots() {
  const freeSince: number[] = []
  let slice: { left: number; begun: number; ended: number; waits: number[]; end(): void } | undefined
  let open = Promise.withResolvers<void>()
  let isClosing = false

  return {
    /** Each task calls it when it begins, and waits while no slice is measured. */
    async enter(): Promise<void> {
      const now = performance.now()
      const since = freeSince.shift()
      if (slice !== undefined && since !== undefined && since >= slice.begun) slice.waits.push(now - since)
      while (!isClosing && (slice === undefined || slice.left === 0)) {
        slice?.end()
        await open.promise
      }
      if (slice === undefined) return
      slice.left -= 1
      slice.ended += 1
      freeSince.push(performance.now())
    },

    /** Lets `count` tasks through, or as many as come within `seconds`. */
    async measure(count: number, seconds: number): Promise<Performed> {
      const done = Promise.withResolvers<void>()
      const current = { left: count, begun: performance.now(), ended: 0, waits: [], end: done.resolve }
      slice = current
      const timer = setTimeout(done.resolve, seconds * 1000)
      open.resolve()
      open = Promise.withResolvers()
      await done.promise
      clearTimeout(timer)
      slice = undefined
      return { ended: current.ended, ms: performance.now() - current.begun, waits: current.waits }
    },

    /** Lets everything through that waits. */
    close(): void {
      isClosing = true
      open.resolve()
    },
  }
}
