/**
 * Owns that one round goes at a time, in the order in which they were asked for. Reloads that wait are one: whoever
 * asks while one is under way waits for the next, which is sure to see his change.
 */

import type { ReloadResult } from './reload-event.ts'

type Waiting = PromiseWithResolvers<ReloadResult>

export interface Rounds {
  reload(round: () => Promise<ReloadResult>): Promise<ReloadResult>
  /** Any other round; it waits for those before it, and reloads asked for later wait for it. */
  next<Result>(round: () => Promise<Result>): Promise<Result>
  /** Whether somebody waits for a reload that would begin after the one under way. */
  isReloadWaiting(): boolean
  /** Those who wait for the next reload are content with the one under way, which begins anew. */
  joinWaiting(): void
  /** Resolves when nothing is under way. */
  rest(): Promise<void>
}

export function createRounds(): Rounds {
  /** Absent: nothing is under way, and a round begins at once. */
  let last: Promise<unknown> | undefined
  let waiting: Waiting[] = []
  let served: Waiting[] = []

  function enqueue<Result>(round: () => Promise<Result>): Promise<Result> {
    const result = last === undefined ? round() : last.then(round)
    const ended: Promise<unknown> = result
      .catch(() => {})
      .then(() => {
        if (last === ended) last = undefined
      })
    last = ended
    return result
  }

  async function serve(round: () => Promise<ReloadResult>): Promise<void> {
    // Those who waited have joined the round before.
    if (waiting.length === 0) return
    served = waiting
    waiting = []
    try {
      const result = await round()
      for (const caller of served) caller.resolve(result)
    } catch (error) {
      for (const caller of served) caller.reject(error)
    }
    served = []
  }

  return {
    reload(round) {
      const caller = Promise.withResolvers<ReloadResult>()
      waiting.push(caller)
      if (waiting.length === 1) void enqueue(() => serve(round))
      return caller.promise
    },
    next: enqueue,
    isReloadWaiting: () => waiting.length > 0,
    joinWaiting() {
      served.push(...waiting.splice(0))
    },
    async rest() {
      await last
    },
  }
}
