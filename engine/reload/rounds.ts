/**
 * Owns that one round goes at a time, in the order in which they were asked for. Reloads that wait next to each other
 * are one: whoever asks while one is under way waits for the next, which is sure to see his change.
 */

import type { ReloadResult } from './reload-event.ts'

type Waiting = PromiseWithResolvers<ReloadResult>

export interface Rounds {
  reload(round: () => Promise<ReloadResult>): Promise<ReloadResult>
  /** Any other round; it waits for those before it, and reloads asked for later wait for it. */
  next<Result>(round: () => Promise<Result>): Promise<Result>
  /** Whether a reload that began after the one under way would be the next round. */
  isReloadWaiting(): boolean
  /** Whether any round waits. */
  isAnyWaiting(): boolean
  /** Those who wait for the next round, a reload, are content with the one under way, which begins anew. */
  joinWaiting(): void
  /** Resolves when nothing is under way. */
  rest(): Promise<void>
}

/** Absent callers: it is no reload. */
interface Round {
  readonly callers?: Waiting[]
  /** Never rejects. */
  run(): Promise<void>
}

export function createRounds(): Rounds {
  const queue: Round[] = []
  /** Of the round under way. Absent: there is none, and one begins at once. */
  let running: { readonly round: Round; readonly ended: Promise<void> } | undefined

  function enqueue(round: Round): void {
    queue.push(round)
    if (running === undefined) begin()
  }

  function begin(): void {
    const round = queue.shift()
    running = undefined
    if (round === undefined) return
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    running = { round, ended }
    void round.run().then(() => {
      begin()
      resolve()
    })
  }

  return {
    reload(round) {
      const caller = Promise.withResolvers<ReloadResult>()
      const last = queue.at(-1)
      if (last?.callers) last.callers.push(caller)
      else {
        const callers = [caller]
        enqueue({ callers, run: () => serve(callers, round) })
      }
      return caller.promise
    },
    next<Result>(round: () => Promise<Result>) {
      const caller = Promise.withResolvers<Result>()
      enqueue({ run: () => round().then(caller.resolve, caller.reject) })
      return caller.promise
    },
    isReloadWaiting: () => queue[0]?.callers !== undefined,
    isAnyWaiting: () => queue.length > 0,
    joinWaiting() {
      const [next] = queue
      if (next?.callers === undefined || running?.round.callers === undefined) return
      running.round.callers.push(...next.callers)
      queue.shift()
    },
    async rest() {
      while (running) await running.ended
    },
  }
}

/** Callers may come to it while it is under way. */
async function serve(callers: readonly Waiting[], round: () => Promise<ReloadResult>): Promise<void> {
  try {
    const result = await round()
    for (const caller of callers) caller.resolve(result)
  } catch (error) {
    for (const caller of callers) caller.reject(error)
  }
}
