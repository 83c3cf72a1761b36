/**
 * Asks a person for consent: builds the address of Google's page and exchanges the code. Importing this file loads
 * Google's libraries.
 */

import { compileRedaction, type SourceClock } from '@reveille/kit'
import { CodeChallengeMethod, OAuth2Client } from 'google-auth-library'
import type { BaseUrls } from '../configuration.ts'
import { scopes } from './credentials.ts'
import { exchange as exchangeOnce } from './exchange.ts'
import { malformed } from './failure.ts'
import { createClient } from './libraries.ts'
import { oauthService } from './service.ts'
import { readTokens, type TokenAnswer } from './token-answer.ts'

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
export async function newVerifier(): Promise<{ readonly verifier: string; readonly challenge: string }> {
  const { codeVerifier, codeChallenge = '' } = await new OAuth2Client().generateCodeVerifierAsync()
  return { verifier: codeVerifier, challenge: codeChallenge }
}

/** Builds the address of the page. With `prompt=consent`, because Google gives a refresh token only after asking. */
export function authorizationUrl(request: AuthorizationRequest): string {
  const { clientId, baseUrls, redirectUri, state, challenge, loginHint } = request
  return createClient({ app: { clientId }, baseUrls }).generateAuthUrl({
    access_type: 'offline',
    prompt: 'consent',
    scope: [...scopes],
    redirect_uri: redirectUri,
    state,
    code_challenge: challenge,
    code_challenge_method: CodeChallengeMethod.S256,
    ...(loginHint !== undefined && { login_hint: loginHint }),
  })
}

/**
 * Exchanges the code for tokens. @throws PluginError `bad-code`, `bad-client`, and as calls do; the reason of the
 * signal
 */
export async function exchange(request: ExchangeRequest): Promise<Grant> {
  const { client, code, verifier, redirectUri, baseUrls, fetch, clock, signal } = request
  const app = { clientId: client.id, clientSecret: client.secret }
  const answer = await exchangeOnce({ fetch, signal, name: oauthService.name }, (adapter) =>
    createClient({ app, baseUrls, adapter }).getToken({
      code,
      codeVerifier: verifier,
      redirect_uri: redirectUri,
    }),
  )
  const redact = compileRedaction([code, verifier, client.secret ?? ''])
  const tokens = readTokens(answer, { account: undefined, redact, now: clock.now() })
  const { refreshToken, scopes: granted = scopes } = tokens
  if (refreshToken === undefined) throw malformed(oauthService, 'gave no refresh token')
  return { ...tokens, refreshToken, scopes: granted }
}
