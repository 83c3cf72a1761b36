/** Repeats calls until they succeed, if their failure may pass. */

import {
  type Backoff,
  isPluginError,
  type PluginError,
  retryDelayMs,
  type SourceClock,
  unlessAborted,
} from '@reveille/kit'
import { minuteMs, secondMs } from '../durations.ts'
import type { Status } from './status.ts'

/** The backoff of calls and of posts. */
const backoff: Backoff = { firstMs: secondMs, maxMs: 5 * minuteMs }

export interface RetryContext {
  readonly clock: SourceClock
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  readonly status: Status
}

/** Codes of a bad consent, which only a person can fix. */
const consentCodes = new Set(['consent-revoked', 'bad-client', 'missing-scope'])
/** Codes that the caller handles. */
const callerCodes = new Set([...consentCodes, 'history-expired', 'label-changed'])
/** A failure that the next try ends within this time is not reported. */
const minProblemMs = 5 * secondMs

export function needsConsent(error: unknown): error is PluginError {
  return isPluginError(error) && consentCodes.has(error.code)
}

export const isTransient = (error: PluginError) => error.retryable && !callerCodes.has(error.code)
/** Holds also for errors that a person has to fix: the call is repeated in case they did. */
export const isRecoverable = (error: PluginError) => !callerCodes.has(error.code)

/**
 * Performs a call, again after failures that `shouldRetry` accepts. Default: transient ones. @throws other failures;
 * errors that are no PluginError, which are bugs; the reason of the signal
 */
export async function retry<Result>(
  { clock, random, status }: RetryContext,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Result>,
  shouldRetry: (error: PluginError) => boolean = isTransient,
): Promise<Result> {
  const problem = status.problem()
  try {
    for (let failures = 1; ; failures++) {
      try {
        signal.throwIfAborted()
        const result = await unlessAborted(ask(signal), signal)
        problem.clear()
        return result
      } catch (error) {
        if (signal.aborted || !isPluginError(error) || !shouldRetry(error)) throw error
        const retryAfterMs = (error.retryAfter ?? 0) * secondMs
        const wait = retryDelayMs({ retryAfterMs }, failures, backoff, random)
        const lasts = failures > 1 || wait >= minProblemMs
        if (!error.retryable) problem.set('waiting', error.message)
        else if (lasts) problem.set('failing', error.message)
        await clock.sleep(wait, signal)
      }
    }
  } finally {
    problem.release()
  }
}
