/** Owns one call on the main thread: what it needs, and how what became of it is told. */

import type { TransformLimits } from '../../config/settings.ts'
import { type TransformAnswer, type TransformCall, TransformError, type TransformErrorCode } from '../port.ts'
import type { CallData, CallOrder, ToldError } from '../worker/protocol.ts'

export interface Call {
  readonly module: string
  readonly exportName: string
  readonly limits: TransformLimits
  readonly given: TransformCall
  resolve(answer: TransformAnswer): void
  reject(error: TransformError): void
}

/** Everything that the worker is given is its own: the buffer of a body may hold other requests' too. */
export function orderOf(
  { exportName, given }: Call,
  call: number,
): CallOrder & { body: Uint8Array<ArrayBuffer> } {
  const { form, headers, query, path, params, vars, item, index, now, base } = given
  const data: CallData = { form, headers, query, path, params, vars, item, index, now, base }
  return {
    type: 'call',
    call,
    exportName,
    requestId: given.requestId,
    data: JSON.stringify(data),
    unwrapped: given.unwrapped,
    body: new Uint8Array(given.rawBody),
    maxAnswerBytes: given.maxAnswerBytes,
  }
}

/** `text` continues the sentence that the module's name begins. */
export function failure(module: string, text: string, code: TransformErrorCode = 'TRANSFORM_FAILED') {
  return new TransformError(code, `${module} ${text}`)
}

export function failureOf(module: string, error: ToldError): TransformError {
  const { text, isSentence, stack, place } = error
  const cause = new Error(text)
  cause.stack = stack ?? text
  return new TransformError('TRANSFORM_FAILED', isSentence ? `${module} ${text}` : `${module}: ${text}`, {
    cause,
    ...(place && { place }),
  })
}

/** Of a call that found no worker, because its module could not be loaded. */
export function loadFailureOf(module: string, error: ToldError): TransformError {
  return failureOf(module, error.isSentence ? error : { ...error, text: `cannot be loaded: ${error.text}` })
}

export function secondsOf(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`
}
