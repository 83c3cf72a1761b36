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
const usualBackoff: Backoff = { firstMs: secondMs, maxMs: 5 * minuteMs }

export interface RetryContext {
  readonly clock: SourceClock
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  readonly status: Status
}

export interface RetryOptions {
  /** Decides whether to try again after an error. Default: after transient errors. */
  readonly shouldRetry?: (error: PluginError) => boolean
  readonly backoff?: Backoff
  /** Describes the error to the operator. Default: by its message. */
  readonly describe?: (error: PluginError) => string
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
 * Performs a call, again after failures. @throws errors that should not be retried; errors that are no PluginError,
 * which are bugs; the reason of the signal
 */
export async function retry<Result>(
  { clock, random, status }: RetryContext,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Result>,
  { shouldRetry = isTransient, backoff = usualBackoff, describe = messageOf }: RetryOptions = {},
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
        const wait = waitMs(failures, backoff, random, error.retryAfter)
        const lasts = failures > 1 || wait >= minProblemMs
        if (!error.retryable) problem.set('waiting', describe(error))
        else if (lasts) problem.set('failing', describe(error))
        await clock.sleep(wait, signal)
      }
    }
  } finally {
    problem.release()
  }
}

function messageOf({ message }: PluginError): string {
  return message
}

/** Returns the wait after this many failures. `retryAfter` is what the other side asked for, in seconds. */
export function waitMs(failures: number, backoff: Backoff, random: () => number, retryAfter = 0): number {
  return retryDelayMs({ retryAfterMs: retryAfter * secondMs }, failures, backoff, random)
}
