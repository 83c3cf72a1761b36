/** Represents one call on the main thread: its order to the worker, and its failures. */

import type { Place } from '../../config/file/diagnostic.ts'
import type { TransformLimits } from '../../config/settings.ts'
import { type TransformAnswer, type TransformCall, TransformError, type TransformErrorCode } from '../port.ts'
import type { CallData, CallOrder, ErrorReport } from '../worker/protocol.ts'

export interface Call {
  readonly module: string
  readonly exportName: string
  readonly limits: TransformLimits
  readonly given: TransformCall
  /** The value of `context.with`, which may hold secrets. */
  readonly parameters?: Readonly<Record<string, unknown>>
  /** True if its result has no effect, so that it is no reason to keep a worker: a call of `tests:` or a dry run. */
  readonly isTest: boolean
  resolve(answer: TransformAnswer): void
  reject(error: TransformError): void
}

/** Copies everything for the worker, since the buffer of a body may hold other requests as well. */
export function orderOf(
  { exportName, given, parameters }: Call,
  call: number,
): CallOrder & { body: Uint8Array<ArrayBuffer> } {
  const { requestId, onCall, onStop: _onStop, rawBody, unwrapped, maxAnswerBytes, ...rest } = given
  const data: CallData = { ...rest, with: parameters }
  return {
    type: 'call',
    call,
    exportName,
    requestId,
    data: JSON.stringify(data),
    unwrapped,
    body: new Uint8Array(rawBody),
    maxAnswerBytes,
    watchesNetwork: onCall !== undefined,
  }
}

/** `text` continues a sentence that begins with the module's name. */
export function failure(module: string, text: string, code?: TransformErrorCode): TransformError {
  return transformError(module, { text, isSentence: true }, code)
}

export function busy({ module }: Call, text: string): TransformError {
  return failure(module, text, 'TRANSFORM_BUSY')
}

export function transformError(
  module: string,
  { name, text, isSentence, refused, stack, place }: ErrorReport,
  code: TransformErrorCode = 'TRANSFORM_FAILED',
): TransformError {
  const options: ErrorOptions & { place?: Place } = place ? { place } : {}
  if (refused !== undefined) {
    const refusal = { status: refused, message: text }
    const sentence = `${module} refused the request with ${refused}: ${text}`
    return new TransformError('TRANSFORM_REFUSED', sentence, { ...options, refusal })
  }
  if (stack !== undefined) {
    const cause = new Error(text)
    cause.stack = stack
    if (name !== undefined) cause.name = name
    options.cause = cause
  }
  return new TransformError(code, isSentence ? `${module} ${text}` : `${module}: ${text}`, options)
}

/** The error of a call that found no worker because its module could not be loaded. */
export function loadFailureOf({ module, given }: Call, error: ErrorReport): TransformError {
  const { stoppedAt: target, place } = error
  if (target !== undefined) given.onStop?.({ module, target, ...(place && { place }) })
  return transformError(
    module,
    error.isSentence ? error : { ...error, text: `cannot be loaded: ${error.text}` },
  )
}

export function secondsOf(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`
}
