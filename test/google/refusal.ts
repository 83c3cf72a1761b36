/** Writes Google's refusals in their own shapes. */

import type { Service } from './description/operations.ts'

export class Refusal extends Error {
  readonly status: number
  readonly body: object | string
  readonly headers: Readonly<Record<string, string>>
  /** Whether the request is wrong whatever the state is, so that the caller made a mistake. */
  readonly isWrong: boolean

  constructor(
    message: string,
    status: number,
    body: object | string,
    { headers = {}, isWrong = false }: { headers?: Readonly<Record<string, string>>; isWrong?: boolean } = {},
  ) {
    super(message)
    this.status = status
    this.body = body
    this.headers = headers
    this.isWrong = isWrong
  }
}

/** https://cloud.google.com/apis/design/errors#handling_errors */
const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

/** Gmail's additional words. https://developers.google.com/workspace/gmail/api/guides/handle-errors */
const reasons: Readonly<Record<number, string>> = {
  400: 'invalidArgument',
  401: 'authError',
  403: 'forbidden',
  404: 'notFound',
  409: 'aborted',
  412: 'failedPrecondition',
  429: 'rateLimitExceeded',
  500: 'backendError',
  503: 'backendError',
}

export interface Wrong {
  readonly code: number
  readonly message: string
  /** Default: the status that belongs to the code. */
  readonly status?: string
  readonly reason?: string
  /** The message of the entry in `errors`. Default: the message. */
  readonly said?: string
  readonly location?: { readonly location: string; readonly locationType: string }
  readonly details?: readonly object[]
  readonly isWrong?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

/** Writes the error as Gmail does, with `errors`, or as newer services do, without. */
export function refusal(service: Service, wrong: Wrong): Refusal {
  const { code, message, status = statuses[code] ?? 'UNKNOWN', details, isWrong, headers } = wrong
  const { reason = reasons[code] ?? 'badRequest', said = message, location } = wrong
  const errors =
    service === 'gmail' ? { errors: [{ message: said, domain: 'global', reason, ...location }] } : {}
  const body = { error: { code, message, ...errors, status, ...(details === undefined ? {} : { details }) } }
  return new Refusal(message, code, body, { isWrong, headers })
}

export interface Violation {
  /** The field, as Google writes paths: `policy.bindings[0].role`. */
  readonly field: string
  readonly description: string
}

/** Refuses a request that differs from its description. */
export function badRequest(service: Service, violations: readonly Violation[]): Refusal {
  return refusal(service, {
    code: 400,
    message: violations.map(({ description }) => description).join('\n'),
    reason: 'invalid',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: violations.map(({ field, description }) =>
          field === '' ? { description } : { field, description },
        ),
      },
    ],
    isWrong: true,
  })
}

/** Refuses an argument that no state would make valid. */
export function badArgument(service: Service, message: string): Refusal {
  return refusal(service, { code: 400, message, isWrong: true })
}

/** Refuses a request to an OAuth endpoint, as RFC 6749, 5.2, says. */
export function oauthRefusal(
  code: number,
  error: string,
  description: string,
  { isWrong = true }: { isWrong?: boolean } = {},
): Refusal {
  const headers = { 'cache-control': 'no-store' }
  const message = `${error}: ${description}`
  return new Refusal(message, code, { error, error_description: description }, { isWrong, headers })
}
