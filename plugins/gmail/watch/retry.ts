/** Owns calls that are made again until they succeed: nobody is to blame for their failure, and it may pass. */

import { type Backoff, isPluginError, type PluginError, retryDelayMs, type SourceClock } from '@reveille/kit'
import { minuteMs, secondMs } from '../durations.ts'
import { unlessAborted } from '../unless-aborted.ts'
import type { Status } from './status.ts'

/** Of calls, and of posts. */
const usualBackoff: Backoff = { firstMs: secondMs, mostMs: 5 * minuteMs }

export interface RetryContext {
  readonly clock: SourceClock
  /** From 0 to 1. */
  readonly random: () => number
  readonly status: Status
}

export interface RetryOptions {
  /** Whether it is tried again after that. Default: after what is retryable. */
  readonly shouldRetry?: (error: PluginError) => boolean
  readonly backoff?: Backoff
  /** What the operator is told of it. Default: its message. */
  readonly words?: (error: PluginError) => string
}

/** The consent is no good: nothing helps but a person. */
const consentCodes = new Set(['consent-revoked', 'bad-client', 'missing-scope'])
/** Those who ask know what to do. */
const answers = new Set([...consentCodes, 'history-expired', 'label-changed'])
/** What the next try mends at once is no state to report. */
const shortestProblemMs = 5 * secondMs

export function needsConsent(error: unknown): error is PluginError {
  return isPluginError(error) && consentCodes.has(error.code)
}

export const isTransient = (error: PluginError) => error.retryable && !answers.has(error.code)
/** Also what a person has to mend: it is tried again, in case they did. */
export const isRecoverable = (error: PluginError) => !answers.has(error.code)

/** @throws what does not pass, and what is no PluginError, which is a bug; the reason of the signal */
export async function retry<Result>(
  { clock, random, status }: RetryContext,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Result>,
  { shouldRetry = isTransient, backoff = usualBackoff, words = messageOf }: RetryOptions = {},
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
        const lasts = failures > 1 || wait >= shortestProblemMs
        if (!error.retryable) problem.set('waiting', words(error))
        else if (lasts) problem.set('failing', words(error))
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

/** `retryAfter`, in seconds, is what the other side asked for. */
export function waitMs(failures: number, backoff: Backoff, random: () => number, retryAfter = 0): number {
  return retryDelayMs({ retryAfterMs: retryAfter * secondMs }, failures, backoff, random)
}
