/** Writes Google's refusals in their own shapes. */

import type { FakeServerAnswer } from '@reveille/kit/fake-server'

export class Refusal extends Error {
  readonly answer: FakeServerAnswer
  /** True if the request is wrong whatever the state is, so that the caller made a mistake. */
  readonly isWrong: boolean

  constructor(message: string, answer: FakeServerAnswer, isWrong = false) {
    super(message)
    this.answer = answer
    this.isWrong = isWrong
  }
}

/**
 * The status of a code, Gmail's additional word, and a sentence. https://cloud.google.com/apis/design/errors#handling_errors
 * and https://developers.google.com/workspace/gmail/api/guides/handle-errors
 */
const codes: Readonly<Record<number, readonly [status: string, reason: string, sentence: string]>> = {
  400: ['INVALID_ARGUMENT', 'invalidArgument', 'Precondition check failed.'],
  401: ['UNAUTHENTICATED', 'authError', 'Request had invalid authentication credentials.'],
  403: ['PERMISSION_DENIED', 'forbidden', 'The caller does not have permission'],
  404: ['NOT_FOUND', 'notFound', 'Requested entity was not found.'],
  429: ['RESOURCE_EXHAUSTED', 'rateLimitExceeded', 'Resource has been exhausted (e.g. check quota).'],
  500: ['INTERNAL', 'backendError', 'Internal error encountered.'],
  503: ['UNAVAILABLE', 'backendError', 'The service is currently unavailable.'],
}

export interface Wrong {
  readonly code: number
  /** Default: the sentence that belongs to the code. */
  readonly message?: string
  readonly status?: string
  readonly reason?: string
  readonly details?: readonly object[]
  readonly headers?: Readonly<Record<string, string>>
  readonly isWrong?: boolean
}

/** Writes the error as Gmail does. */
export function refusal(wrong: Wrong): Refusal {
  const { code, details, headers, isWrong } = wrong
  const [usual = 'UNKNOWN', word = 'badRequest', sentence = 'Unknown Error.'] = codes[code] ?? []
  const { message = sentence, status = usual, reason = word } = wrong
  const errors = [{ message, domain: 'global', reason }]
  const body = { error: { code, message, errors, status, ...(details && { details }) } }
  return new Refusal(message, { status: code, body, headers }, isWrong)
}

/** Refuses an argument that no state would make valid. */
export function badArgument(message: string): Refusal {
  return refusal({ code: 400, message, isWrong: true })
}

/** Refuses a request to an OAuth endpoint, as RFC 6749, 5.2, says. */
export function oauthRefusal(code: number, error: string, description: string, isWrong = true): Refusal {
  const body = { error, error_description: description }
  const answer = { status: code, body, headers: { 'cache-control': 'no-store' } }
  return new Refusal(`${error}: ${description}`, answer, isWrong)
}

const errorInfo = (reason: string, more: object = {}) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: 'googleapis.com',
  metadata: { service: 'gmail.googleapis.com', ...more },
})

/** Refuses a token that is good, but not for the call. */
export function missingScope(isWrong: boolean): Refusal {
  const message = 'Request had insufficient authentication scopes.'
  const details = [errorInfo('ACCESS_TOKEN_SCOPE_INSUFFICIENT')]
  return refusal({ code: 403, message, reason: 'insufficientPermissions', details, isWrong })
}

export interface Scripted {
  readonly status: number
  readonly reason?: string
  readonly retryAfter?: number
}

const oauthErrors: Readonly<Record<number, readonly [error: string, sentence: string]>> = {
  400: ['invalid_grant', 'Token has been expired or revoked.'],
  401: ['invalid_client', 'The OAuth client was not found.'],
  429: ['rate_limit_exceeded', 'Too many requests.'],
  503: ['temporarily_unavailable', 'Try again.'],
}

/** Writes the refusal that a test has scripted, as Gmail or the token server does. */
export function scriptedRefusal(operation: string, { status, reason, retryAfter }: Scripted): Refusal {
  const headers = retryAfter === undefined ? undefined : { 'retry-after': String(retryAfter) }
  if (operation.startsWith('oauth.')) {
    const [error = 'internal_failure', sentence = ''] = oauthErrors[status] ?? []
    return oauthRefusal(status, reason ?? error, sentence, false)
  }
  if (status === 502) {
    // A server before the service answers without JSON.
    const html = '<!DOCTYPE html><html lang=en><title>Error 502 (Server Error)!!1</title></html>'
    return new Refusal('502', { status, body: html, headers: { 'content-type': 'text/html' } })
  }
  if (reason === 'insufficientPermissions') return missingScope(false)
  const why = /quota|limit/i.test(reason ?? '') ? 'RATE_LIMIT_EXCEEDED' : undefined
  const details =
    reason === 'accessNotConfigured'
      ? [errorInfo('SERVICE_DISABLED', { consumer: 'projects/4711' })]
      : why && [errorInfo(why)]
  const word = reason === 'failedPrecondition' ? 'FAILED_PRECONDITION' : undefined
  return refusal({ code: status, status: word, reason, details, headers })
}
