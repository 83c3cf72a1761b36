/** Owns calls that are made again until they succeed: nobody is to blame for their failure, and it may pass. */

import { type Backoff, isPluginError, type PluginError, type SourceClock } from '@reveille/kit'
import { secondMs } from '../durations.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { usualBackoff, waitMs } from './backoff.ts'
import type { Status } from './status.ts'

export interface Means {
  readonly clock: SourceClock
  /** From 0 to 1. */
  readonly random: () => number
  readonly status: Status
}

export interface RetryOptions {
  /** Whether it is tried again after that. Default: after what is retryable. */
  readonly passes?: (error: PluginError) => boolean
  readonly backoff?: Backoff
  /** What the operator is told of it. Default: its message. */
  readonly words?: (error: PluginError) => string
}

/** The consent is no good: nothing helps but a person. */
const ofConsent = new Set(['consent-revoked', 'bad-client', 'missing-scope'])
/** Those who ask know what to do. */
const answers = new Set([...ofConsent, 'history-expired', 'label-changed'])
/** What the next try mends at once is no state to report. */
const shortestTroubleMs = 5 * secondMs

export function needsConsent(error: unknown): error is PluginError {
  return isPluginError(error) && ofConsent.has(error.code)
}

export const whatPasses = (error: PluginError) => error.retryable && !answers.has(error.code)
/** Also what a person has to mend: it is tried again, in case they did. */
export const whatCanBeMended = (error: PluginError) => !answers.has(error.code)

/** @throws what does not pass, and what is no PluginError, which is a bug; the reason of the signal */
export async function retry<Result>(
  { clock, random, status }: Means,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Result>,
  { passes = whatPasses, backoff = usualBackoff, words = wordsOf }: RetryOptions = {},
): Promise<Result> {
  const trouble = status.trouble()
  try {
    for (let failures = 1; ; failures++) {
      try {
        signal.throwIfAborted()
        const result = await unlessAborted(ask(signal), signal)
        trouble.clear()
        return result
      } catch (error) {
        if (signal.aborted || !isPluginError(error) || !passes(error)) throw error
        const wait = waitMs(failures, backoff, random, error.retryAfter)
        const lasts = failures > 1 || wait >= shortestTroubleMs
        if (!error.retryable) trouble.set('waiting', words(error))
        else if (lasts) trouble.set('failing', words(error))
        await clock.sleep(wait, signal)
      }
    }
  } finally {
    trouble.leave()
  }
}

function wordsOf({ message }: PluginError): string {
  return message
}
