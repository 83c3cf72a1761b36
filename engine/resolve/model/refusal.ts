/** Lists the codes of the engine's refusals, and turns errors into refusals. */

import { formatPlace } from '../../config/file/diagnostic-text.ts'
import { type Path, writePath } from '../../config/values/path.ts'
import { TransformError } from '../../transform/port.ts'
import { NeedsThread } from './containment.ts'
import type { FieldError, Refusal } from './decision.ts'

/** The codes are API and stay. The sentence explains the code; the message of a refusal says more. */
export const refusalCodes = {
  INVALID_TEXT: 'The body is not valid in its charset (default UTF-8).',
  MULTIPART_BODY:
    'The body is multipart/form-data; set the sender to JSON or application/x-www-form-urlencoded.',
  INVALID_JSON: 'The body is not valid JSON.',
  NESTED_TOO_DEEP: 'The body is nested more than 1,000 levels deep.',
  TOO_MANY_FIELDS: 'The form has more than 1,000 fields.',
  INVALID_BODY: 'The body is not a JSON object.',
  PAYLOAD_SCHEMA: "The payload violates the mapping's `schema`.",
  INVALID_FIELD: 'A field has the wrong type or a value that is not allowed.',
  BLANK_TEXT: 'The text or message is missing or blank.',
  UNKNOWN_CHANNEL: 'No channel has that name.',
  CHANNEL_NOT_CONFIGURED: 'The channel is not configured, so the reply could not be delivered.',
  MODEL_NOT_ALLOWED: 'The model is not an allowed <provider>/<model> or alias.',
  UNKNOWN_THINKING: 'No thinking level has that name.',
  RESERVED_SESSION_KEY: 'The session key `main` is reserved for the main session.',
  SESSION_KEY_NOT_ALLOWED: 'The session key lacks an allowed prefix, or contains an absent value.',
  ABSENT_FIELD: 'The mapping is `strict`, and a template uses a field that is absent or null.',
  TOO_MANY_ACTIONS: 'The request produces more actions than `maxActions`.',
  TOO_LARGE_RENDERED: 'The request renders more than `maxRenderedBytes`.',
  EXPRESSION_FAILED: 'An expression could not be evaluated for this payload.',
  TRANSFORM_FAILED: "The mapping's transform failed; the cause is in the log.",
  TRANSFORM_REFUSED: "The mapping's transform refused the request, with a status of its choice (400 to 499).",
  TRANSFORM_TIMEOUT: "The mapping's transform timed out.",
  TRANSFORM_BUSY: "Too many requests are waiting for the mapping's transform; try again later.",
  ENGINE_FAILED: 'The engine failed unexpectedly; the cause is in the log.',
} as const

export type RefusalCode = keyof typeof refusalCodes

/** Thrown inside `resolve`, which returns it as a {@link Refusal}. The message never quotes the body. */
export class RefusalError extends Error {
  readonly code: RefusalCode
  readonly details: readonly FieldError[]

  constructor(
    code: RefusalCode,
    message: string = refusalCodes[code],
    details: readonly FieldError[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = 'RefusalError'
    this.code = code
    this.details = details
  }
}

/** The message for a request whose thread was ended. */
export const tooMuchWork = 'the request exceeds the limit of time or memory'

/**
 * Reports a transform's answer that cannot be used. `by` names the module and the element of its list. `problem` is one
 * sentence that names field and type.
 */
export function badAnswer(by: string, problem: string): TransformError {
  return new TransformError('TRANSFORM_FAILED', `${by} answered what cannot be used: ${problem}`)
}

/**
 * Makes a decision of any error: a refusal of a RefusalError, and a failure of the engine of every other. Places below
 * `folder` are shown relative to it.
 * @throws NeedsThread, which requests another thread
 */
export function refuse(error: unknown, folder: string, mapping?: string): Refusal {
  if (error instanceof NeedsThread) throw error
  if (error instanceof TransformError) return failed(error, folder, mapping)
  if (!(error instanceof RefusalError)) {
    return {
      outcome: 'failed',
      code: 'ENGINE_FAILED',
      message: refusalCodes.ENGINE_FAILED,
      details: [],
      mapping,
      cause: error,
    }
  }
  const message = mapping === undefined ? error.message : `mapping "${mapping}": ${error.message}`
  return {
    outcome: 'refused',
    code: error.code,
    message,
    details: error.details,
    mapping,
    cause: error.cause,
  }
}

/**
 * The sender gets the message of a refusing transform, and otherwise only learns that the transform failed. The
 * operator reads the reason.
 */
function failed(error: TransformError, folder: string, mapping?: string): Refusal {
  const { code, message, place, refusal } = error
  const named = mapping === undefined ? '' : `mapping "${mapping}": `
  const at = place === undefined ? '' : ` (${formatPlace(place, folder)})`
  const reason = `${named}${message}${at}`
  if (refusal) return { outcome: 'refused', code, ...refusal, reason, details: [], mapping }
  return {
    outcome: 'failed',
    code,
    message: `${named}${refusalCodes[code]}`,
    reason,
    details: [],
    mapping,
    // The author's own error comes with the author's lines, which our error does not have.
    cause: error.cause ?? error,
  }
}

/** `message` completes a sentence that begins with the field's name. */
export function refusalAt(path: Path, code: RefusalCode, message: string, cause?: unknown): RefusalError {
  const options = cause === undefined ? undefined : { cause }
  return new RefusalError(
    code,
    `${writePath(path)}: ${message}`,
    [{ pointer: pointerTo(path), message }],
    options,
  )
}

/** Returns a JSON Pointer into the mapping's fields. */
export function pointerTo(path: Path): string {
  return path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
