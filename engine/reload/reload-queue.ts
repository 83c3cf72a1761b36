/**
 * Runs one reload, rollback or dry run at a time, in the order of the requests. Adjacent waiting reloads are merged: a
 * caller who comes during a reload waits for the next one, which is sure to see the caller's change.
 */

import type { ReloadResult } from './reload-event.ts'

type Caller = PromiseWithResolvers<ReloadResult>

interface Entry {
  /** Absent if the entry is not a reload. */
  readonly callers?: Caller[]
  /** Never rejects. */
  run(): Promise<void>
}

export function createReloadQueue() {
  const waiting: Entry[] = []
  /** The running entry. Absent: nothing is running, and an entry begins at once. */
  let running: { readonly entry: Entry; readonly ended: Promise<void> } | undefined

  function enqueue(entry: Entry): void {
    waiting.push(entry)
    if (running === undefined) begin()
  }

  function begin(): void {
    const entry = waiting.shift()
    running = undefined
    if (entry === undefined) return
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    running = { entry, ended }
    void entry.run().then(() => {
      begin()
      resolve()
    })
  }

  return {
    reload(run: () => Promise<ReloadResult>): Promise<ReloadResult> {
      const caller = Promise.withResolvers<ReloadResult>()
      const last = waiting.at(-1)
      if (last?.callers) last.callers.push(caller)
      else {
        const callers = [caller]
        enqueue({ callers, run: () => answerAll(callers, run) })
      }
      return caller.promise
    },
    /** Runs a rollback or a dry run after everything before it. Reloads that are requested later wait for it. */
    add<Result>(run: () => Promise<Result>): Promise<Result> {
      const caller = Promise.withResolvers<Result>()
      enqueue({ run: () => run().then(caller.resolve, caller.reject) })
      return caller.promise
    },
    /** True if the next entry is a reload. */
    isReloadWaiting: () => waiting[0]?.callers !== undefined,
    /** True if anything waits. */
    isAnyWaiting: () => waiting.length > 0,
    /** Lets the current reload, which begins again, answer the callers of the next waiting one. */
    joinWaiting(): void {
      const [next] = waiting
      if (next?.callers === undefined || running?.entry.callers === undefined) return
      running.entry.callers.push(...next.callers)
      waiting.shift()
    },
    /** Resolves when nothing is running. */
    async idle(): Promise<void> {
      while (running) await running.ended
    },
  }
}

/** Callers may be added while it runs. */
async function answerAll(callers: readonly Caller[], run: () => Promise<ReloadResult>): Promise<void> {
  try {
    const result = await run()
    for (const caller of callers) caller.resolve(result)
  } catch (error) {
    for (const caller of callers) caller.reject(error)
  }
}
