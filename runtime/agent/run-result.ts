/** Defines how a run can end, and how that is written on its record. */

import type { RunError, RunRecord } from '../store/port.ts'
import type { Failure } from './failure.ts'
import type { Answer, TurnOutcome } from './turn.ts'

export type RunResult = Answered | Unanswered

export interface Answered extends Answer {
  readonly state: 'succeeded'
  readonly usage?: RunRecord['usage']
}

export interface Unanswered {
  readonly state: 'failed' | 'timed-out' | 'cancelled'
  readonly error: RunError
  /** The reason for the log, which quotes nothing. */
  readonly reason: string
}

export function succeeded(outcome: Extract<TurnOutcome, { kind: 'answered' }>): Answered {
  const { kind: _, asked: __, ...answer } = outcome
  return { state: 'succeeded', ...answer }
}

export function failed({ code, message, retryable, reason }: Failure): Unanswered {
  return { state: 'failed', error: { code, message, retryable }, reason }
}

export function timedOut(run: Pick<RunRecord, 'timeoutSeconds'>): Unanswered {
  const reason = `the run did not end within ${run.timeoutSeconds} s`
  return { state: 'timed-out', error: { code: 'TIMEOUT', message: reason, retryable: false }, reason }
}

export function cancelled(): Unanswered {
  const reason = 'the run was cancelled'
  return { state: 'cancelled', error: { code: 'CANCELLED', message: reason, retryable: false }, reason }
}

export function interrupted(times: number): Unanswered {
  const reason = `the turn was interrupted ${times === 1 ? 'once' : `${times} times`} and is not asked for again`
  return { state: 'failed', error: { code: 'INTERRUPTED', message: reason, retryable: false }, reason }
}

/** Returns the fields that the result sets on the run's record. */
export function resultFields(result: RunResult): Partial<RunRecord> {
  if (result.state !== 'succeeded') return { state: result.state, error: result.error }
  const { runnerState: _, ...fields } = result
  return fields
}
