/** Owns doing several things at one time, that end together. */

export type Task = (signal: AbortSignal) => Promise<unknown>

/**
 * Resolves when all are done. The first that throws ends the others, and is thrown once they have ended.
 * @throws what that one threw; the reason of the signal
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

/** One after the other by at most so many hands; the results have the order of the items. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  most: number,
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
    Array.from({ length: Math.min(most, items.length) }, () => worker),
  )
  return results
}
