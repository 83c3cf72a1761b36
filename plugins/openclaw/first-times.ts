/**
 * Owns the time that a run was given at its first attempt. OpenClaw takes two requests with one idempotency key for one
 * run only if they are equal, and what is left of a run's time differs at each attempt.
 */

export interface FirstTimes {
  /** Seconds, whole. */
  of(runId: string, timeoutSeconds: number | undefined): number | undefined
  forget(runId: string): void
}

/** Runs that fail at one time and are tried again. */
const most = 5000

export function createFirstTimes(limit = most): FirstTimes {
  const times = new Map<string, number>()
  return {
    of(runId, timeoutSeconds) {
      if (timeoutSeconds === undefined) return undefined
      const known = times.get(runId)
      if (known !== undefined) return known
      const first = Math.max(1, Math.floor(timeoutSeconds))
      times.set(runId, first)
      for (const oldest of times.keys()) {
        if (times.size <= limit) break
        times.delete(oldest)
      }
      return first
    },
    forget(runId) {
      times.delete(runId)
    },
  }
}
