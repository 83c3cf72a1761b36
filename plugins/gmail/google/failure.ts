/** Translates Google's refusals into errors that say what to do, and whether a retry can help. */

import {
  asList,
  asRecord,
  asString,
  type Facts,
  oneLine,
  type PluginError,
  permanentError,
  type Redact,
  readRetryAfter,
  transientError,
  type VendorAnswer,
} from '@reveille/kit'

/** A service in sentences, and its key in `baseUrls`. */
interface Service {
  readonly name: string
  readonly key: 'gmail' | 'oauth'
}

export const gmailService: Service = { name: 'Gmail', key: 'gmail' }
export const oauthService: Service = { name: "Google's token server", key: 'oauth' }

/** The address at which the API is enabled. */
const apiPage = 'https://console.cloud.google.com/apis/library/gmail.googleapis.com'

export interface FailureOptions {
  /** The account whose consent it is. */
  readonly account: string
  readonly redact: Redact
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

/** Reasons that Gmail and the servers before it name alike. */
const reasons = {
  /** https://developers.google.com/workspace/gmail/api/guides/handle-errors */
  tooOften: new Set([
    'rateLimitExceeded',
    'userRateLimitExceeded',
    'quotaExceeded',
    'dailyLimitExceeded',
    'concurrentLimitExceeded',
    'RATE_LIMIT_EXCEEDED',
  ]),
  /** https://docs.cloud.google.com/service-infrastructure/docs/service-management/reference/rpc/google.api#errorreason */
  disabled: new Set(['accessNotConfigured', 'SERVICE_DISABLED']),
  scope: new Set(['insufficientPermissions', 'insufficientScopes', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT']),
}

/** At most this many characters of Google's message are quoted. */
const maxQuoteLength = 300

/** True if the error comes from Google, and not from a proxy before it. https://google.aip.dev/193 */
export function isFromGoogle({ json }: VendorAnswer): boolean {
  return asRecord(asRecord(json)?.['error']) !== undefined
}

/** Translates an answer of Gmail that is no success. */
export function failureOf(answer: VendorAnswer, options: FailureOptions): PluginError {
  const { status, headers, json } = answer
  const { account, redact, now } = options
  const error = asRecord(asRecord(json)?.['error'])
  const message = asString(error?.['message']) ?? ''
  const words = quoted(message, redact)
  const googleReasons = reasonsOf(error)
  const has = (some: ReadonlySet<string>) => googleReasons.some((reason) => some.has(reason))
  const retryAfter = readRetryAfter(headers.get('retry-after'), now) ?? readDelay(error, message, now)

  if (status === 429 || (status === 403 && has(reasons.tooOften))) {
    return transientError('rate-limited', `Gmail asks for fewer calls (${status})${words}`, {
      retryAfter,
    })
  }
  if (status === 408 || status >= 500) {
    return transientError('unavailable', `Gmail cannot answer now (${status})${words}`, {
      retryAfter,
    })
  }
  if (error === undefined)
    return malformed(gmailService, `answered with status ${status} in a form that is not Google's`)
  if (status === 401) return consentRevoked(account, words)
  if (status === 403 && has(reasons.scope)) return missingScope(account, gmailService)
  if (status === 403 && has(reasons.disabled)) {
    const where = consoleOf(error, message) ?? apiPage
    const text = `The Gmail API is not enabled in the Google Cloud project: enable it at ${where} and wait some minutes.`
    return permanentError('api-disabled', text)
  }
  // Google says this of an account without a mailbox: "Mail service not enabled".
  const lacks = googleReasons.includes('failedPrecondition') || googleReasons.includes('FAILED_PRECONDITION')
  if (status === 403 || lacks)
    return permanentError('forbidden', `Gmail does not allow it (${status})${words}`)
  if (status === 404) return permanentError('not-found', `Gmail has no such thing (404)${words}`)
  return permanentError('bad-request', `Gmail refuses the request (${status})${words}`)
}

/** Returns Google's message as the end of a sentence. */
export function quoted(text: string, redact: Redact): string {
  const line = oneLine(redact(text), maxQuoteLength)
  return line === '' ? '.' : `: ${line}${/[.!?\u2026]$/.test(line) ? '' : '.'}`
}

/** `what` says what the service did, in the past tense: `gave no history id`. */
export function malformed(service: Service, what: string): PluginError {
  const fix = `look at \`baseUrls.${service.key}\` and, if that is right, at the proxy before Google`
  return transientError('malformed', `${service.name} ${what}: ${fix}.`)
}

/** https://developers.google.com/identity/protocols/oauth2#expiration */
export function consentRevoked(account: string, words: string): PluginError {
  const why = 'It was withdrawn, or given to an OAuth client in testing, where it ends after a week.'
  const text = `Google no longer accepts the consent of ${account}${words} ${why} Run \`reveille webhooks gmail setup\`.`
  return permanentError('consent-revoked', text)
}

export function missingScope(account: string, service: Service): PluginError {
  const fix = 'run `reveille webhooks gmail setup` and leave its box ticked'
  const text = `The consent of ${account} does not cover what ${service.name} is asked for: ${fix}.`
  return permanentError('missing-scope', text)
}

/** Collects the reasons of both forms of errors (`errors` and `details`), and the name of the status. */
function reasonsOf(error: Facts | undefined): readonly string[] {
  const all = [...asList(error?.['errors']), ...asList(error?.['details'])].map(
    (each) => asRecord(each)?.['reason'],
  )
  return [...all, error?.['status']].filter((reason) => typeof reason === 'string')
}

/**
 * Returns the seconds of `google.rpc.RetryInfo`, else those of Gmail's message: "User-rate limit exceeded. Retry
 * after 2026-01-15T12:00:00.000Z". Gmail sends no header and no details.
 */
function readDelay(error: Facts | undefined, message: string, now: number): number | undefined {
  for (const detail of asList(error?.['details'])) {
    const delay = /^(\d{1,9}(?:\.\d+)?)s$/.exec(asString(asRecord(detail)?.['retryDelay']) ?? '')
    if (delay !== null) return Number(delay[1])
  }
  return readRetryAfter(/\bRetry after (\d{4}-\d\d-\d\dT[\d:.]+Z)/.exec(message)?.[1], now)
}

/** Finds the address at which the API can be enabled, with the project in it. */
function consoleOf(error: Facts, message: string): string | undefined {
  const links = asList(error['details']).flatMap((detail) => asList(asRecord(detail)?.['links']))
  const found = [
    ...links.map((link) => asRecord(link)?.['url']),
    ...asList(error['errors']).map((each) => asRecord(each)?.['extendedHelp']),
    /https:\/\/console\.\S{1,300}/.exec(message)?.[0],
  ]
  return found.find(isConsole)
}

function isConsole(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > maxQuoteLength || /[\s\p{Cc}]/u.test(text)) return false
  const url = URL.parse(text)
  return (
    url?.protocol === 'https:' && /^console\.([a-z]+\.)?google\.com$/.test(url.host) && url.pathname !== '/'
  )
}
