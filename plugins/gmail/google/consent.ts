/** Asks a person for consent: builds the address of Google's page and exchanges the code. */

import { hash, randomBytes } from 'node:crypto'
import { compileRedaction, type SourceClock } from '@reveille/kit'
import type { BaseUrls } from '../configuration.ts'
import { mailScope } from './credentials.ts'
import { malformed, oauthService } from './failure.ts'
import { requestTokens, type TokenAnswer } from './token-answer.ts'

export interface AuthorizationRequest {
  readonly clientId: string
  readonly baseUrls: BaseUrls
  readonly redirectUri: string
  /** Google sends this back with the code. */
  readonly state: string
  /** The challenge that belongs to the verifier. */
  readonly challenge: string
  /** The account that Google is to propose. */
  readonly loginHint?: string
}

export interface ExchangeRequest {
  readonly client: { readonly id: string; readonly secret?: string }
  readonly code: string
  readonly verifier: string
  readonly redirectUri: string
  readonly baseUrls: BaseUrls
  readonly fetch: typeof fetch
  readonly clock: SourceClock
  readonly signal: AbortSignal
}

/** The tokens of a new consent, and the scopes that the person has allowed. */
export type Grant = Required<Omit<TokenAnswer, 'scopes'>> & { readonly scopes: readonly string[] }

/** https://www.rfc-editor.org/rfc/rfc7636 */
export function newVerifier(): { readonly verifier: string; readonly challenge: string } {
  const verifier = randomBytes(64).toString('base64url')
  return { verifier, challenge: hash('sha256', verifier, 'base64url') }
}

/** Builds the address of the page. With `prompt=consent`, because Google gives a refresh token only after asking. */
export function authorizationUrl(request: AuthorizationRequest): string {
  const { clientId, baseUrls, redirectUri, state, challenge, loginHint } = request
  const query = new URLSearchParams({
    access_type: 'offline',
    prompt: 'consent',
    scope: mailScope,
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...(loginHint !== undefined && { login_hint: loginHint }),
  })
  return `${baseUrls.accounts}/o/oauth2/v2/auth?${query}`
}

/**
 * Exchanges the code for tokens. @throws PluginError `bad-code`, `bad-client`, and as calls do; the reason of the
 * signal
 */
export async function exchange(request: ExchangeRequest): Promise<Grant> {
  const { client, code, verifier, redirectUri, baseUrls, fetch, clock, signal } = request
  const tokens = await requestTokens({
    baseUrls,
    fetch,
    signal,
    form: {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri,
      client_id: client.id,
      client_secret: client.secret,
    },
    account: undefined,
    redact: compileRedaction([code, verifier, client.secret ?? '']),
    now: clock.now(),
  })
  const { refreshToken, scopes = [mailScope] } = tokens
  if (refreshToken === undefined) throw malformed(oauthService, 'gave no refresh token')
  return { ...tokens, refreshToken, scopes }
}
