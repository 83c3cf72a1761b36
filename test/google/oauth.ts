/**
 * Shows the page of consent, and gives out tokens. It follows RFC 6749, RFC 7636, RFC 8252 and
 * https://developers.google.com/identity/protocols/oauth2/native-app.
 */

import { hash, randomBytes } from 'node:crypto'
import { oauthRefusal, Refusal } from './refusal.ts'

export interface OAuthClient {
  readonly id: string
  readonly secret: string
}

/** One person's consent to the client. */
export interface Grant {
  readonly account: string
  readonly scopes: readonly string[]
  /** True if the person left out scopes that were asked for. */
  readonly isPartial: boolean
  isRevoked: boolean
}

export interface AccessToken {
  readonly grant: Grant
  endsAt: number
}

/** A person's answer on the page. */
export type Answer = 'allow' | 'deny' | { readonly only: readonly string[] } | { readonly as: string }

const knownScopes = ['https://www.googleapis.com/auth/gmail.readonly']
/** https://developers.google.com/identity/protocols/oauth2/native-app#exchange-authorization-code */
const tokenSeconds = 3_600
/** RFC 6749, 4.1.2, recommends ten minutes at most. */
const codeMs = 10 * 60_000

/** The parameters that have to be present, and what their values look like. Others may be `optional`. */
const page = {
  client_id: /^/,
  redirect_uri: /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(:\d+)?(\/[^#@]*)?$/,
  response_type: /^code$/,
  scope: /^/,
  // Google still accepts requests without PKCE. RFC 8252, 8.1, requires it of native apps, and so does this server.
  code_challenge: /^[\w-]{43}$/,
  code_challenge_method: /^S256$/,
}
const optional = { state: /^/, login_hint: /^/, access_type: /^(offline|online)$/, prompt: /^consent$/ }
const client = { grant_type: /^/, client_id: /^/, client_secret: /^/ }
const forms: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  authorization_code: { ...client, code: /^/, code_verifier: /^[\w.~-]{43,128}$/, redirect_uri: /^/ },
  refresh_token: { ...client, refresh_token: /^/ },
}

/** Returns what is wrong with the parameters. */
function wrongIn(
  given: URLSearchParams,
  required: Readonly<Record<string, RegExp>>,
  others: Readonly<Record<string, RegExp>> = {},
): string | undefined {
  const missing = Object.keys(required).find((name) => !given.get(name))
  if (missing !== undefined) return `Missing required parameter: ${missing}`
  const wrong = [...given].find(([name, value]) => !(required[name] ?? others[name])?.test(value))
  if (wrong !== undefined) return `Parameter not allowed, or its value: ${wrong.join('=')}`
  const twice = [...given.keys()].find((name) => given.getAll(name).length > 1)
  return twice && `OAuth 2 parameters can only have a single value: ${twice}`
}

export function createOAuth({ id, secret }: OAuthClient, now: () => number) {
  const grants: Grant[] = []
  const codes = new Map<string, { grant: Grant; query: URLSearchParams; endsAt: number; isUsed: boolean }>()
  const refreshTokens = new Map<string, Grant>()
  const accessTokens = new Map<string, AccessToken>()

  function grantOf(account: string, scopes: readonly string[], isPartial: boolean): Grant {
    const grant = { account, scopes, isPartial, isRevoked: false }
    grants.push(grant)
    return grant
  }

  function refreshTokenFor(grant: Grant): string {
    const text = `1//0${randomBytes(32).toString('base64url')}`
    refreshTokens.set(text, grant)
    return text
  }

  function answerOf(grant: Grant): object {
    const text = `ya29.${randomBytes(40).toString('base64url')}`
    accessTokens.set(text, { grant, endsAt: now() + tokenSeconds * 1000 })
    // Google counts the second of its answer.
    const [expires_in, scope] = [tokenSeconds - 1, grant.scopes.join(' ')]
    return { access_token: text, expires_in, scope, token_type: 'Bearer' }
  }

  function exchange(form: URLSearchParams): object {
    const code = codes.get(form.get('code') ?? '')
    const refuse = (why: string, isWrong = true) => oauthRefusal(400, 'invalid_grant', why, isWrong)
    if (code === undefined || code.isUsed) throw refuse('Malformed auth code.')
    if (code.endsAt <= now() || code.grant.isRevoked) throw refuse('Bad Request', false)
    if (form.get('redirect_uri') !== code.query.get('redirect_uri')) throw refuse('redirect_uri_mismatch')
    // RFC 7636, 4.6.
    const challenge = hash('sha256', form.get('code_verifier') ?? '', 'base64url')
    if (challenge !== code.query.get('code_challenge')) throw refuse('Invalid code verifier.')
    code.isUsed = true
    const isLasting = code.query.get('access_type') === 'offline' && code.query.get('prompt') === 'consent'
    return { ...answerOf(code.grant), ...(isLasting && { refresh_token: refreshTokenFor(code.grant) }) }
  }

  return {
    /** Checks a request for the page. @throws Refusal as a page, since Google redirects only to addresses that it knows */
    checkPage(query: URLSearchParams): void {
      const unknown = query
        .get('scope')
        ?.split(' ')
        .find((scope) => !knownScopes.includes(scope))
      const isOther = query.get('client_id') !== id
      const wrong =
        wrongIn(query, page, optional) ??
        (isOther
          ? 'The OAuth client was not found.'
          : unknown && `Some requested scopes were invalid: ${unknown}`)
      if (wrong === undefined) return
      const body = `<!doctype html><title>Error 400</title><p>Access blocked: ${wrong}</p>`
      throw new Refusal(
        wrong,
        { status: isOther ? 401 : 400, body, headers: { 'content-type': 'text/html' } },
        true,
      )
    },

    /** Returns the address to which the person's browser is sent. */
    answerPage(query: URLSearchParams, answer: Answer, account: string): string {
      const target = new URL(query.get('redirect_uri') ?? '')
      const state = query.get('state')
      if (state !== null) target.searchParams.append('state', state)
      if (answer === 'deny') {
        target.searchParams.append('error', 'access_denied')
        return target.href
      }
      const asked = query.get('scope')?.split(' ') ?? []
      const only = typeof answer === 'object' && 'only' in answer ? answer.only : asked
      const scopes = asked.filter((scope) => only.includes(scope))
      const who = typeof answer === 'object' && 'as' in answer ? answer.as : account
      const code = `4/0A${randomBytes(24).toString('base64url')}`
      const grant = grantOf(who, scopes, scopes.length < asked.length)
      codes.set(code, { grant, query, endsAt: now() + codeMs, isUsed: false })
      target.searchParams.append('code', code)
      target.searchParams.append('scope', scopes.join(' '))
      return target.href
    },

    /** Checks the form itself, whatever its tokens are worth. @throws Refusal */
    checkForm(form: URLSearchParams): void {
      const shape = forms[form.get('grant_type') ?? '']
      if (shape === undefined) throw oauthRefusal(400, 'unsupported_grant_type', 'Invalid grant_type')
      const wrong = wrongIn(form, shape)
      if (wrong !== undefined) throw oauthRefusal(400, 'invalid_request', wrong)
      if (form.get('client_id') === id && form.get('client_secret') === secret) return
      throw oauthRefusal(401, 'invalid_client', 'The OAuth client was not found.')
    },

    answerForm(form: URLSearchParams): object {
      if (form.get('grant_type') === 'authorization_code') return exchange(form)
      const grant = refreshTokens.get(form.get('refresh_token') ?? '')
      if (grant !== undefined && !grant.isRevoked) return answerOf(grant)
      throw oauthRefusal(400, 'invalid_grant', 'Token has been expired or revoked.', grant === undefined)
    },

    /** Makes a consent without asking a person. */
    credentials(account: string): object {
      const refreshToken = refreshTokenFor(grantOf(account, knownScopes, false))
      return { account, clientId: id, clientSecret: secret, refreshToken, scopes: knownScopes }
    },
    accessToken: (text: string) => accessTokens.get(text),
    expireAccessTokens(): void {
      for (const token of accessTokens.values()) token.endsAt = Number.NEGATIVE_INFINITY
    },
    revoke(): void {
      for (const grant of grants) grant.isRevoked = true
    },
  }
}
