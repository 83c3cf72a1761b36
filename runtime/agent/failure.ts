/** Owns what a plugin's throw means to the host: one shape, bounded, whatever was thrown. */

import { isPluginError } from '@reveille/kit'
import { cut } from '../cut.ts'

/** Characters of an error's message that are kept. */
const longestMessage = 1000

export interface Failure {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  /** What the vendor asked for. Milliseconds. */
  readonly retryAfterMs?: number
  readonly maybeDelivered: boolean
  /** Every other call to the service would fare the same. */
  readonly wholeChannel: boolean
  /** A sentence that may be logged: an error that is no PluginError may quote what it was given. */
  readonly reason: string
}

/** Anything but a PluginError is permanent: it is a bug, and a bug does not go away by waiting. */
export function failureOf(error: unknown, code: string): Failure {
  try {
    return readFailure(error, code)
  } catch {
    return ownFailure(textless, code)
  }
}

/** @throws whatever the error throws when it is looked at */
function readFailure(error: unknown, code: string): Failure {
  if (isPluginError(error)) {
    const message = bounded(error.message)
    const seconds = Number(error.retryAfter)
    return {
      code: typeof error.code === 'string' ? bounded(error.code) : code,
      message,
      retryable: error.retryable === true,
      ...(seconds >= 0 ? { retryAfterMs: seconds * 1000 } : {}),
      maybeDelivered: error.maybeDelivered === true,
      wholeChannel: error.wholeChannel === true,
      reason: message,
    }
  }
  return ownFailure(bounded(error instanceof Error ? error.message : error), code)
}

function ownFailure(message: string, code: string): Failure {
  return {
    code,
    message,
    retryable: false,
    maybeDelivered: false,
    wholeChannel: false,
    reason: 'the plugin threw an error of its own, which is kept with the record and not in the log',
  }
}

const textless = 'an error that has no text'

function bounded(text: unknown): string {
  try {
    return cut(String(text), longestMessage)
  } catch {
    return textless
  }
}
