/** Records attempts: the model is never asked again without a written reason. */

import type { Attempt, RunRecord } from '../store/port.ts'

const crashReason = 'the process ended while the run was being performed'
const drainReason = 'the gateway stopped before the turn ended'

/**
 * Ends the attempt that an earlier claim left open. After a crash the attempt may never have been written; then both
 * its times are the time of the discovery.
 */
export function withLeftOver(attempts: readonly Attempt[], crashed: boolean, at: number): readonly Attempt[] {
  const last = attempts.at(-1)
  const reason = crashed ? crashReason : drainReason
  const result = { endedAt: at, outcome: 'interrupted', reason } as const
  if (last && last.outcome === undefined) return [...attempts.slice(0, -1), { ...last, ...result }]
  return crashed ? [...attempts, { number: attempts.length + 1, startedAt: at, ...result }] : attempts
}

export type AttemptEnd =
  | { readonly outcome: 'succeeded' | 'interrupted' }
  | { readonly outcome: 'failed' | 'timed-out' | 'cancelled' | 'held'; readonly reason: string }

/** Ends the last attempt. */
export function withEnd(attempts: readonly Attempt[], at: number, end: AttemptEnd): Attempt[] {
  const last = attempts.at(-1)
  if (!last) return []
  const reason = end.outcome === 'interrupted' ? { reason: drainReason } : {}
  return [...attempts.slice(0, -1), { ...last, endedAt: at, ...end, ...reason }]
}

/** Begins an attempt. It takes the place of one that was held, since a probe repeats that for as long as the runner is down. */
export function withStart(attempts: readonly Attempt[], at: number): Attempt[] {
  const before = attempts.at(-1)?.outcome === 'held' ? attempts.slice(0, -1) : attempts
  return [...before, { number: before.length + 1, startedAt: at }]
}

/** Counts the attempts since the run was retried last. */
export function countOf(
  { attempts, retries }: Pick<RunRecord, 'attempts' | 'retries'>,
  outcome: Attempt['outcome'],
): number {
  const since = attempts.slice(retries?.at(-1)?.attempts ?? 0)
  return since.filter((attempt) => attempt.outcome === outcome).length
}
