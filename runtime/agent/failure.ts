/** Reads whatever a plugin throws as a failure of one shape with bounded texts. */

import { fileURLToPath } from 'node:url'
import { isPluginError } from '@reveille/kit'
import { cut } from '../cut.ts'

/** Maximum number of characters kept of an error's message. */
const maxMessageLength = 1000

export interface Failure {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  /** The wait that the vendor asked for. Milliseconds. */
  readonly retryAfterMs?: number
  readonly maybeDelivered: boolean
  /** Every other call to the service would fail in the same way. */
  readonly wholeService: boolean
  /** A sentence that may be logged. The message of an error that is no PluginError may quote its input. */
  readonly reason: string
}

interface FailureOptions {
  /** True if the message names the line in which an unexpected error was thrown. Only operators may see that. */
  readonly place?: boolean
}

/** Returns the failure. Anything but a PluginError is permanent: it is a bug, and waiting does not fix it. */
export function failureOf(error: unknown, code: string, options: FailureOptions = {}): Failure {
  try {
    return readFailure(error, code, options)
  } catch {
    return ownFailure(textless, code)
  }
}

/** @throws what the error throws when it is read */
function readFailure(error: unknown, code: string, { place = false }: FailureOptions): Failure {
  if (isPluginError(error)) {
    const message = bounded(error.message)
    const seconds = Number(error.retryAfter)
    return {
      code: typeof error.code === 'string' ? bounded(error.code) : code,
      message,
      retryable: error.retryable === true,
      ...(seconds >= 0 ? { retryAfterMs: seconds * 1000 } : {}),
      maybeDelivered: error.maybeDelivered === true,
      wholeService: error.wholeService === true,
      reason: message,
    }
  }
  if (!(error instanceof Error)) return ownFailure(describeThrown(error), code)
  return ownFailure(place ? withPlace(error) : bounded(error.message), code)
}

function withPlace({ message, stack = '' }: Error): string {
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
    wholeService: false,
    reason: 'the plugin threw an error of its own, which is kept with the record and not in the log',
  }
}

const textless = 'an error that has no text'

function bounded(text: unknown): string {
  try {
    return cut(String(text), maxMessageLength)
  } catch {
    return textless
  }
}
