/** Reads the answers of the token server: tokens, or refusals. */

import {
  asRecord,
  asString,
  type PluginError,
  permanentError,
  type Redact,
  readRetryAfter,
  transientError,
  type VendorAnswer,
} from '@reveille/kit'
import type { BaseUrls } from '../configuration.ts'
import { exchange } from './exchange.ts'
import { consentRevoked, malformed, missingScope, oauthService, quoted } from './failure.ts'

interface TokenRequest extends TokenAnswerOptions {
  readonly baseUrls: BaseUrls
  readonly fetch: typeof globalThis.fetch
  readonly signal: AbortSignal
  readonly form: Readonly<Record<string, string | undefined>>
}

/**
 * Asks the token server. https://developers.google.com/identity/protocols/oauth2/native-app#exchange-authorization-code
 * @throws PluginError; the reason of the signal
 */
export async function requestTokens(request: TokenRequest) {
  const { baseUrls, fetch, signal, form } = request
  const body = new URLSearchParams()
  for (const [name, value] of Object.entries(form)) if (value !== undefined) body.set(name, value)
  return readTokens(await exchange({ fetch, url: `${baseUrls.oauth}/token`, body, signal }), request)
}

export type TokenAnswer = ReturnType<typeof readTokens>

interface TokenAnswerOptions {
  /** The account whose consent it is. Undefined while a code is exchanged. */
  readonly account: string | undefined
  readonly redact: Redact
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

/** The characters that a header allows; other text would make an error that quotes the token. */
const tokenForm = /^[\x21-\x7e]{1,8192}$/

export function isToken(value: unknown): value is string {
  return typeof value === 'string' && tokenForm.test(value)
}

/** https://www.rfc-editor.org/rfc/rfc6749#section-5.1 */
function readTokens(answer: VendorAnswer, options: TokenAnswerOptions) {
  if (answer.status !== 200) throw tokenFailureOf(answer, options)
  const {
    access_token: accessToken,
    token_type: type = 'Bearer',
    expires_in: seconds,
    refresh_token: refreshToken,
    scope,
  } = asRecord(answer.json) ?? {}
  const life = typeof seconds === 'string' ? Number(seconds) : seconds
  const isBearer = typeof type === 'string' && type.toLowerCase() === 'bearer'
  const isWhole = refreshToken === undefined || isToken(refreshToken)
  if (!(isToken(accessToken) && isBearer && isWhole && typeof life === 'number' && life > 0)) {
    throw malformed(oauthService, 'gave no access token')
  }
  return {
    accessToken,
    /** Milliseconds since the Unix epoch. */
    accessTokenExpiresAt: options.now + life * 1000,
    /** Present if there is a new one. */
    ...(refreshToken !== undefined && { refreshToken }),
    /** Absent if they are the requested ones. */
    ...(typeof scope === 'string' && { scopes: scope.split(' ').filter((each) => each !== '') }),
  }
}

/** https://www.rfc-editor.org/rfc/rfc6749#section-5.2 and https://developers.google.com/identity/protocols/oauth2/native-app#errors */
const badClient = new Set(['invalid_client', 'unauthorized_client', 'deleted_client', 'disabled_client'])

function tokenFailureOf(answer: VendorAnswer, { account, redact, now }: TokenAnswerOptions): PluginError {
  const { status, headers, json } = answer
  const { name } = oauthService
  const fields = asRecord(json)
  const error = asString(fields?.['error'])
  const description = asString(fields?.['error_description'])
  const words = quoted([error, description].filter((text) => text !== undefined).join(', '), redact)
  const retryAfter = readRetryAfter(headers.get('retry-after'), now)

  if (status === 429 || error === 'rate_limit_exceeded') {
    return transientError('rate-limited', `${name} asks for fewer calls (${status})${words}`, { retryAfter })
  }
  if (status === 408 || status >= 500 || error === 'temporarily_unavailable') {
    return transientError('unavailable', `${name} cannot answer now (${status})${words}`, { retryAfter })
  }
  if (error === undefined) {
    return malformed(oauthService, `answered with status ${status} in a form that is not Google's`)
  }
  if (error === 'invalid_grant') {
    if (account !== undefined) return consentRevoked(account, words)
    return permanentError(
      'bad-code',
      `Google does not take the code, which is good once and for some minutes${words}`,
    )
  }
  if (badClient.has(error)) {
    const fix = 'give `reveille webhooks gmail setup` the file of a client that the Google Cloud console has'
    return permanentError('bad-client', `Google refuses the OAuth client: ${fix}${words}`)
  }
  if (error === 'invalid_scope') return missingScope(account ?? 'the account', oauthService)
  // Reasons are `admin_policy_enforced` and `org_internal`.
  return permanentError('forbidden', `${name} refuses (${status})${words}`)
}
