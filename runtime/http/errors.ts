/** Lists the stable error codes: one table from code to status, sentence and whether a retry can help. */

import { type FieldError, type RefusalCode, refusalCodes } from '@reveille/engine'

interface ErrorRow {
  readonly status: number
  /** Sent to the sender; never quotes what it sent. */
  readonly sentence: string
  /** True if the same request may succeed later without any change. */
  readonly retry: boolean
  /** Seconds for the `Retry-After` header, where no better time is known. */
  readonly retryAfter?: number
}

/** The engine words its refusals, which are answered with 400 unless the table below says otherwise. */
const refusalsOfEngine = Object.fromEntries(
  Object.entries(refusalCodes).map(([code, sentence]) => [code, row(400, sentence)]),
) as Record<RefusalCode, ErrorRow>

/** Codes are API and never change their meaning; sentences may be improved at any time. */
const errorTable = {
  NOT_FOUND: row(404, 'There is nothing at this address.'),
  METHOD_NOT_ALLOWED: row(405, 'Hooks accept POST only; set the sender to POST.'),
  UNAUTHORIZED: row(401, 'The token or signature is missing or wrong.'),
  RIGHT_MISSING: row(403, 'The token lacks the right for this.'),
  CROSS_SITE: row(403, 'A request with a sign-in cookie must come from a page of this gateway.'),
  NOT_THROUGH_TUNNEL: row(
    403,
    'This endpoint has no authentication and accepts no requests through a tunnel; give it a token or a signature.',
  ),
  TOO_MANY_TRIES: retryable(429, 'Too many failed attempts from your address; try again later.', 60),
  RATE_LIMITED: retryable(429, 'The rate limit is exceeded; try again later.', 60),
  INVALID_ADDRESS: row(400, 'The path or query is not valid UTF-8.'),
  BODY_TOO_LARGE: row(413, 'The body exceeds the size limit.'),
  BODY_TIMEOUT: retryable(408, 'The body did not arrive in time.'),
  UNSUPPORTED_ENCODING: row(415, 'The content encoding must be gzip, deflate, br or identity.'),
  BAD_ENCODING: row(400, 'The body does not match its content encoding.'),
  ...refusalsOfEngine,
  MULTIPART_BODY: row(415, refusalCodes.MULTIPART_BODY),
  TRANSFORM_FAILED: row(500, refusalCodes.TRANSFORM_FAILED),
  TRANSFORM_TIMEOUT: retryable(500, refusalCodes.TRANSFORM_TIMEOUT),
  TRANSFORM_BUSY: retryable(503, refusalCodes.TRANSFORM_BUSY, 5),
  ENGINE_FAILED: row(500, refusalCodes.ENGINE_FAILED),
  VERIFIER_UNAVAILABLE: retryable(
    503,
    'The keys to verify this request are unavailable; try again later.',
    30,
  ),
  HANDSHAKE_UNAVAILABLE: retryable(503, 'The handshake cannot be completed now; try again later.', 30),
  TOO_MANY_STREAMS: retryable(503, 'Too many clients follow the stream; try again later.', 30),
  BACKLOG: retryable(503, 'Too much work is waiting; try again later.', 30),
  DRAINING: retryable(503, 'The gateway is stopping; try again soon.', 5),
  STORE_FULL: retryable(503, 'The gateway has no space to store the request.', 60),
  STORE_UNAVAILABLE: retryable(503, 'The request could not be stored; send it again.', 5),
  IDEMPOTENCY_CONFLICT: row(409, 'The idempotency key was already used with a different body.'),
  BODY_NOT_KEPT: row(409, 'The body of this request was not kept.'),
  NOT_REPLAYABLE: row(409, 'The request was refused, is not an event, or its receiver no longer exists.'),
  WRONG_STATE: row(409, 'The current state does not allow this.'),
  MALFORMED_HTTP: row(400, 'The request is not valid HTTP.'),
  HEADERS_TOO_LARGE: row(431, 'The request line and headers are too large.'),
  REQUEST_TIMEOUT: retryable(408, 'The request did not arrive in time.'),
  INTERNAL: retryable(500, 'The gateway failed; find the cause in its log by the request id.'),
} satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errorTable

export function errorDefinition(code: ErrorCode): ErrorRow {
  return errorTable[code]
}

export function statusOf(code: ErrorCode): number {
  return errorTable[code].status
}

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorTable, text)
}

/** Renders the table as docs/reference/http.md shows it. */
export function renderErrorTable(): string {
  const rows = Object.entries<ErrorRow>(errorTable).map(
    ([code, { status, sentence, retry }]) =>
      `| \`${code}\` | ${status} | ${escaped(sentence)} | ${retry ? 'yes' : 'no'} |`,
  )
  return ['| Code | Status | Meaning | A retry can help |', '|---|---|---|---|', ...rows].join('\n')
}

/** Markdown would take `<provider>` for a tag, and `|` for the end of a cell. */
function escaped(sentence: string): string {
  return sentence.replace(/[<|]/g, '\\$&')
}

/** Thrown where a step of the request pipeline refuses a request. It quotes nothing of what was sent. */
export class RequestError extends Error {
  readonly code: ErrorCode
  readonly details: readonly FieldError[]
  /** Seconds to wait. Default: those of the code. */
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, options?: ErrorOptions & RequestErrorOptions) {
    super(options?.sentence ?? errorTable[code].sentence, options)
    this.name = 'RequestError'
    this.code = code
    this.details = options?.details ?? []
    this.retryAfter = options?.retryAfter ?? errorTable[code].retryAfter
  }
}

export interface RequestErrorOptions {
  /** Default: that of the code. */
  readonly sentence?: string
  readonly details?: readonly FieldError[]
  readonly retryAfter?: number
}

function row(status: number, sentence: string): ErrorRow {
  return { status, sentence, retry: false }
}

function retryable(status: number, sentence: string, retryAfter?: number): ErrorRow {
  return { status, sentence, retry: true, ...(retryAfter !== undefined && { retryAfter }) }
}
