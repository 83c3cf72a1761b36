/** Runs several tasks at one time, which end together. */

export type Task = (signal: AbortSignal) => Promise<unknown>

/**
 * Resolves when all tasks are done. The first task that throws ends the others, and its error is thrown once they
 * have ended. @throws the error of that task; the reason of the signal
 */
export async function runTogether(signal: AbortSignal, tasks: readonly Task[]): Promise<void> {
  const ending = new AbortController()
  const inner = AbortSignal.any([signal, ending.signal])
  let failure: { readonly error: unknown } | undefined
  const run = async (task: Task) => {
    try {
      await task(inner)
    } catch (error) {
      if (!inner.aborted) failure = { error }
      ending.abort(error)
    }
  }
  await Promise.all(tasks.map(run))
  signal.throwIfAborted()
  if (failure) throw failure.error
}

/** Performs a function for each item, for at most this many at one time. The results have the order of the items. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  signal: AbortSignal,
  perform: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  const rest = items.entries()
  const worker: Task = async (inner) => {
    for (const [index, item] of rest) results[index] = await perform(item, inner)
  }
  await runTogether(
    signal,
    Array.from({ length: Math.min(concurrency, items.length) }, () => worker),
  )
  return results
}
