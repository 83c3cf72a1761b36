/**
 * Implements the endpoints that give out and revoke tokens. It follows RFC 6749, RFC 7636, RFC 7009 and
 * https://developers.google.com/identity/protocols/oauth2/native-app.
 */

import { oauthRefusal } from '../refusal.ts'
import { accessTokenSeconds, type Grant, type Grants, type OAuthClient, provesChallenge } from './grants.ts'

export interface TokenOptions {
  readonly client: OAuthClient
  readonly grants: Grants
  now(): number
}

const ofCode = ['grant_type', 'client_id', 'client_secret', 'code', 'code_verifier', 'redirect_uri']
const ofRefresh = ['grant_type', 'client_id', 'client_secret', 'refresh_token', 'scope']

/** Checks the form itself, whatever its tokens are worth. @throws Refusal */
export function checkTokenForm(form: URLSearchParams, { client }: TokenOptions): void {
  const type = need(form, 'grant_type')
  const known = { authorization_code: ofCode, refresh_token: ofRefresh }[type]
  if (known === undefined) throw oauthRefusal(400, 'unsupported_grant_type', `Invalid grant_type: ${type}`)
  for (const name of form.keys()) {
    if (!known.includes(name)) {
      throw oauthRefusal(400, 'invalid_request', `Parameter not allowed for this message type: ${name}`)
    }
    if (form.getAll(name).length > 1) {
      throw oauthRefusal(400, 'invalid_request', `OAuth 2 parameters can only have a single value: ${name}`)
    }
  }
  if (need(form, 'client_id') !== client.id) {
    throw oauthRefusal(401, 'invalid_client', 'The OAuth client was not found.')
  }
  if (need(form, 'client_secret') !== client.secret) {
    throw oauthRefusal(401, 'invalid_client', 'The provided client secret is invalid.')
  }
  if (type === 'refresh_token') {
    need(form, 'refresh_token')
    return
  }
  need(form, 'code')
  need(form, 'redirect_uri')
}

export function answerToken(form: URLSearchParams, options: TokenOptions): object {
  return form.get('grant_type') === 'refresh_token' ? refresh(form, options) : exchange(form, options)
}

function exchange(form: URLSearchParams, { grants, now }: TokenOptions): object {
  const code = grants.code(form.get('code') ?? '')
  if (code === undefined) throw oauthRefusal(400, 'invalid_grant', 'Malformed auth code.')
  if (code.isUsed) throw oauthRefusal(400, 'invalid_grant', 'Bad Request')
  if (code.endsAt <= now() || code.grant.isRevoked) {
    throw oauthRefusal(400, 'invalid_grant', 'Bad Request', { isWrong: false })
  }
  if (form.get('redirect_uri') !== code.redirectUri) {
    throw oauthRefusal(400, 'redirect_uri_mismatch', 'Bad Request')
  }
  const verifier = form.get('code_verifier') ?? ''
  if (verifier === '') throw oauthRefusal(400, 'invalid_grant', 'Missing code verifier.')
  // RFC 7636, 4.1.
  if (!/^[\w.~-]{43,128}$/.test(verifier) || !provesChallenge(verifier, code)) {
    throw oauthRefusal(400, 'invalid_grant', 'Invalid code verifier.')
  }
  code.isUsed = true
  const isLasting = code.isOffline && (code.isFirst || code.isForced)
  const lasting = isLasting ? { refresh_token: grants.issueRefreshToken(code.grant).text } : {}
  return { ...tokenOf(code.grant, grants), ...lasting }
}

function refresh(form: URLSearchParams, { grants }: TokenOptions): object {
  const token = grants.refreshToken(form.get('refresh_token') ?? '')
  if (token === undefined) throw oauthRefusal(400, 'invalid_grant', 'Bad Request')
  if (token.grant.isRevoked) {
    throw oauthRefusal(400, 'invalid_grant', 'Token has been expired or revoked.', { isWrong: false })
  }
  const asked = (form.get('scope') ?? '').split(' ').filter(Boolean)
  // RFC 6749, 6: a renewal may ask for no more scopes than were granted.
  if (asked.some((scope) => !token.grant.scopes.includes(scope))) {
    throw oauthRefusal(400, 'invalid_scope', 'Some requested scopes were invalid.')
  }
  return tokenOf(token.grant, grants)
}

function tokenOf(grant: Grant, grants: Grants): object {
  const { text, scopes } = grants.issueAccessToken(grant)
  // Google counts the second of its answer.
  return {
    access_token: text,
    expires_in: accessTokenSeconds - 1,
    scope: scopes.join(' '),
    token_type: 'Bearer',
  }
}

/** https://developers.google.com/identity/protocols/oauth2/native-app#tokenrevoke */
export function answerRevoke(form: URLSearchParams, { grants }: TokenOptions): object {
  for (const name of form.keys()) {
    if (name !== 'token') {
      throw oauthRefusal(400, 'invalid_request', `Parameter not allowed for this message type: ${name}`)
    }
  }
  const text = need(form, 'token')
  const grant = (grants.refreshToken(text) ?? grants.accessToken(text))?.grant
  if (grant === undefined || grant.isRevoked) {
    throw oauthRefusal(400, 'invalid_token', 'Token expired or revoked', { isWrong: grant === undefined })
  }
  grants.revoke(grant)
  return {}
}

function need(form: URLSearchParams, name: string): string {
  const value = form.get(name)
  if (value !== null && value !== '') return value
  const description =
    name === 'client_secret' ? 'client_secret is missing.' : `Missing required parameter: ${name}`
  throw oauthRefusal(400, 'invalid_request', description)
}
