/** Owns what a plugin's throw means to the host: one shape, bounded, whatever was thrown. */

import { fileURLToPath } from 'node:url'
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

interface Telling {
  /** Whether the message says in which line a plugin's own error was thrown. That is for operators alone. */
  readonly place?: boolean
}

/** Anything but a PluginError is permanent: it is a bug, and a bug does not go away by waiting. */
export function failureOf(error: unknown, code: string, telling: Telling = {}): Failure {
  try {
    return readFailure(error, code, telling)
  } catch {
    return ownFailure(textless, code)
  }
}

/** @throws whatever the error throws when it is looked at */
function readFailure(error: unknown, code: string, { place = false }: Telling): Failure {
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
  if (!(error instanceof Error)) return ownFailure(describeThrown(error), code)
  return ownFailure(place ? placed(error) : bounded(error.message), code)
}

function placed({ message, stack = '' }: Error): string {
  const url = /^ +at .*?\(?(file:\/\/\S+:\d+:\d+)\)?$/m.exec(stack)?.[1]
  return url === undefined ? bounded(message) : `${bounded(message)} (${pathOf(url)})`
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    return url
  }
}

function describeThrown(thrown: unknown): string {
  const isObject = typeof thrown === 'object' && thrown !== null
  return isObject ? 'it threw an object that is no error' : bounded(thrown)
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
