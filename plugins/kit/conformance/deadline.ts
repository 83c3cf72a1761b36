/** Bounds how long the suites wait for something that should happen at once. */

/** The milliseconds that a suite waits: far more than any fake server on the same machine needs. */
let deadlineMs = 2000

export function currentDeadlineMs(): number {
  return deadlineMs
}

/** Shortens the wait for what is known never to happen. Returns a function that restores it. */
export function shortenDeadline(ms: number): () => void {
  const before = deadlineMs
  deadlineMs = ms
  return () => {
    deadlineMs = before
  }
}

export async function within<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`Expected within ${deadlineMs} ms: ${what}.`)),
    deadlineMs,
  )
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
