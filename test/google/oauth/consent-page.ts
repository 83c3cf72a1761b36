/**
 * Shows the page on which a person consents, and redirects afterwards. It follows
 * https://developers.google.com/identity/protocols/oauth2/native-app, RFC 6749, RFC 7636 and RFC 8252.
 */

import { Refusal } from '../refusal.ts'
import type { Grants, OAuthClient } from './grants.ts'

export interface ConsentOptions {
  readonly client: OAuthClient
  readonly grants: Grants
  readonly knownScopes: ReadonlySet<string>
}

export type Answer = 'allow' | 'deny' | { readonly only: readonly string[] } | { readonly as: string }

/** The question that a person is asked. */
export interface Page {
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state?: string
  readonly challenge: string
  readonly challengeMethod: 'S256' | 'plain'
  readonly isOffline: boolean
  readonly isForced: boolean
}

const parameters = new Set([
  ...[
    'client_id',
    'redirect_uri',
    'response_type',
    'scope',
    'state',
    'code_challenge',
    'code_challenge_method',
  ],
  ...['login_hint', 'access_type', 'prompt', 'include_granted_scopes', 'enable_granular_consent', 'hd'],
])

/**
 * Checks a request for the page. @throws Refusal as a page, because Google redirects only to addresses that it knows
 */
export function readConsentRequest(query: URLSearchParams, { client, knownScopes }: ConsentOptions): Page {
  for (const name of query.keys()) {
    if (!parameters.has(name)) {
      throw errorPage('invalid_request', `Parameter not allowed for this message type: ${name}`)
    }
    if (query.getAll(name).length > 1) {
      throw errorPage('invalid_request', `OAuth 2 parameters can only have a single value: ${name}`)
    }
  }
  const need = (name: string): string => {
    const value = query.get(name)
    if (value === null || value === '')
      throw errorPage('invalid_request', `Missing required parameter: ${name}`)
    return value
  }
  const oneOf = (name: string, ...known: readonly string[]): string | undefined => {
    const value = query.get(name) ?? undefined
    if (value !== undefined && !known.includes(value)) {
      throw errorPage('invalid_request', `Invalid parameter value for ${name}: ${value}`)
    }
    return value
  }
  if (need('client_id') !== client.id)
    throw errorPage('invalid_client', 'The OAuth client was not found.', 401)
  const redirectUri = need('redirect_uri')
  if (!isLoopback(redirectUri)) throw errorPage('redirect_uri_mismatch', `redirect_uri: ${redirectUri}`)
  need('response_type')
  oneOf('response_type', 'code')
  const scopes = need('scope').split(/[ +]/).filter(Boolean)
  const unknown = scopes.filter((scope) => !knownScopes.has(scope))
  if (unknown.length > 0) {
    throw errorPage('invalid_scope', `Some requested scopes were invalid. {invalid=[${unknown.join(', ')}]}`)
  }
  // Google still accepts requests without PKCE. RFC 8252, 8.1, requires it of native apps, and so does this server.
  const challenge = need('code_challenge')
  const challengeMethod = oneOf('code_challenge_method', 'S256', 'plain') === 'S256' ? 'S256' : 'plain'
  // RFC 7636, 4.2: SHA-256 gives 43 characters of base64url.
  const isWellFormed = challengeMethod === 'S256' ? /^[\w-]{43}$/ : /^[\w.~-]{43,128}$/
  if (!isWellFormed.test(challenge)) throw errorPage('invalid_request', 'Invalid code challenge.')
  oneOf('include_granted_scopes', 'true', 'false')
  oneOf('enable_granular_consent', 'true', 'false')
  const prompts = (query.get('prompt') ?? '').split(' ').filter(Boolean)
  for (const prompt of prompts) {
    if (!['consent', 'select_account'].includes(prompt)) {
      throw errorPage('invalid_request', `Invalid prompt: ${prompt}`)
    }
  }
  return {
    redirectUri,
    scopes,
    state: query.get('state') ?? undefined,
    challenge,
    challengeMethod,
    isOffline: oneOf('access_type', 'offline', 'online') === 'offline',
    isForced: prompts.includes('consent'),
  }
}

/** Returns the address to which the person's browser is sent. */
export function answerConsent(
  page: Page,
  answer: Answer,
  account: string,
  { grants }: ConsentOptions,
): string {
  const target = new URL(page.redirectUri)
  const add = (name: string, value: string) => target.searchParams.append(name, value)
  if (page.state !== undefined) add('state', page.state)
  if (answer === 'deny') {
    add('error', 'access_denied')
    return target.href
  }
  const only = typeof answer === 'object' && 'only' in answer ? answer.only : page.scopes
  const scopes = page.scopes.filter((scope) => only.includes(scope))
  const who = typeof answer === 'object' && 'as' in answer ? answer.as : account
  const { grant, isFirst } = grants.consent(who, scopes, scopes.length < page.scopes.length)
  add('code', grants.issueCode(grant, isFirst, page))
  add('scope', scopes.join(' '))
  return target.href
}

/** RFC 8252, 7.3 and 8.3, allow any port. Google's page for installed apps allows `localhost` too. */
function isLoopback(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'http:' || url.hash !== '' || url.username !== '') return false
  return ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
}

function errorPage(error: string, description: string, status = 400): Refusal {
  const body = `<!doctype html><title>Error ${status}: ${error}</title><p>Access blocked: ${error}</p><p>${escapeHtml(description)}</p>`
  const headers = { 'content-type': 'text/html; charset=utf-8' }
  return new Refusal(`${error}: ${description}`, status, body, { headers, isWrong: true })
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
