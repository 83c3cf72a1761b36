/** Injects faults in place of answers. */

import type { Fault } from '../google.ts'
import { oauthRefusal, Refusal, refusal, type Wrong } from '../refusal.ts'

export function createFaults() {
  const queues = new Map<string, Fault[]>()
  return {
    add(operation: string, faults: readonly Fault[]): void {
      queues.set(operation, [...(queues.get(operation) ?? []), ...faults])
    },
    /** Returns the next fault of the operation, or of all operations. */
    take(operation: string): Fault | undefined {
      return queues.get(operation)?.shift() ?? queues.get('*')?.shift()
    },
  }
}

interface Asked {
  readonly status: number
  readonly reason?: string
  readonly retryAfter?: number
}

/** Answers as the real service does. */
export function refusalOf(operation: string, fault: Asked, project: string): Refusal {
  const { status, reason, retryAfter } = fault
  const headers: Record<string, string> =
    retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
  if (operation.startsWith('oauth.')) {
    const error = reason ?? oauthErrors[status] ?? 'internal_failure'
    const made = oauthRefusal(status, error, oauthSentences[error] ?? error, { isWrong: false })
    return new Refusal(made.message, status, made.body, { headers: { ...made.headers, ...headers } })
  }
  // A server before the service answers without JSON.
  if (status === 502) {
    const page =
      '<!DOCTYPE html><html lang=en><title>Error 502 (Server Error)!!1</title><p>That’s an error.</html>'
    return new Refusal('502', 502, page, {
      headers: { ...headers, 'content-type': 'text/html; charset=UTF-8' },
    })
  }
  const service = operation.startsWith('pubsub.') ? 'pubsub' : 'gmail'
  return refusal(service, { ...wrongOf(service, status, reason, project), headers, isWrong: false })
}

/** https://developers.google.com/workspace/gmail/api/guides/handle-errors */
function wrongOf(
  service: 'gmail' | 'pubsub',
  status: number,
  reason: string | undefined,
  project: string,
): Wrong {
  const host = `${service}.googleapis.com`
  const info = (why: string): object => ({
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: why,
    domain: 'googleapis.com',
    metadata: { service: host, consumer: `projects/${project}` },
  })
  switch (reason) {
    case 'accessNotConfigured': {
      const title = service === 'gmail' ? 'Gmail API' : 'Cloud Pub/Sub API'
      const url = `https://console.developers.google.com/apis/api/${host}/overview?project=${project}`
      const message = `${title} has not been used in project ${project} before or it is disabled. Enable it by visiting ${url} then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry.`
      const help = {
        '@type': 'type.googleapis.com/google.rpc.Help',
        links: [{ description: 'Google developers console API activation', url }],
      }
      return { code: status, message, reason, details: [help, info('SERVICE_DISABLED')] }
    }
    case 'insufficientPermissions':
      return { ...missingScope(service, 'unknown'), code: status }
    case 'rateLimitExceeded':
    case 'userRateLimitExceeded':
    case 'quotaExceeded':
    case 'dailyLimitExceeded': {
      const message = `Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of service '${host}' for consumer 'project:${project}'.`
      return { code: status, message, reason, details: [info('RATE_LIMIT_EXCEEDED')] }
    }
  }
  const message = sentences[status] ?? 'Unknown Error.'
  return reason === undefined ? { code: status, message } : { code: status, message, reason }
}

/** Both services say this if a token is good, but not for the call. */
export function missingScope(service: 'gmail' | 'pubsub', method: string): Wrong {
  return {
    code: 403,
    message: 'Request had insufficient authentication scopes.',
    reason: 'insufficientPermissions',
    said: 'Insufficient Permission',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT',
        domain: 'googleapis.com',
        metadata: { service: `${service}.googleapis.com`, method },
      },
    ],
  }
}

const sentences: Readonly<Record<number, string>> = {
  400: 'Precondition check failed.',
  401: 'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.',
  403: 'The caller does not have permission',
  404: 'Requested entity was not found.',
  409: 'There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff.',
  429: 'Resource has been exhausted (e.g. check quota).',
  500: 'Internal error encountered.',
  503: 'The service is currently unavailable.',
  504: 'Deadline expired before operation could complete.',
}

const oauthErrors: Readonly<Record<number, string>> = {
  400: 'invalid_grant',
  401: 'invalid_client',
  403: 'rate_limit_exceeded',
  429: 'rate_limit_exceeded',
  503: 'temporarily_unavailable',
}

const oauthSentences: Readonly<Record<string, string>> = {
  invalid_grant: 'Token has been expired or revoked.',
  invalid_client: 'The OAuth client was not found.',
  deleted_client: 'The OAuth client was deleted.',
  rate_limit_exceeded: 'Too many requests.',
}
