/** Owns how long the suites wait for something that should come at once. */

/** Far longer than any fake server on one machine needs, and short enough to sit through. Milliseconds. */
let patienceMs = 2000

export function patience(): number {
  return patienceMs
}

/** For those who know that what they wait for never comes. Answers how to be patient again. */
export function losePatience(ms: number): () => void {
  const before = patienceMs
  patienceMs = ms
  return () => {
    patienceMs = before
  }
}

export async function within<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`Expected within ${patienceMs} ms: ${what}.`)),
    patienceMs,
  )
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
