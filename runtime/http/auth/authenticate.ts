/** Authenticates a sender by the head of its request, before a byte of the body is read. */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isLoopback } from '@reveille/engine'
import type { AuthFailure, AuthFailureCode } from './auth-failure.ts'
import type { EndpointAuth, FoundToken } from './endpoint-auth.ts'
import type { PresentedToken } from './presented-token.ts'

export type AuthResult =
  | { readonly kind: 'token'; readonly token: FoundToken }
  /** A signature came, which is verified once the body is read. A token, if one is required too, was right. */
  | { readonly kind: 'signature'; readonly token?: FoundToken }
  /** The endpoint asks for nothing. */
  | { readonly kind: 'open'; readonly token?: never }
  | ({ readonly kind: 'failed'; readonly token?: never } & AuthFailure)

/** `isLocal`: whether only this machine can reach the gateway, and the request was made there. */
export function authenticate(
  { auth, verify, findToken }: EndpointAuth,
  headers: IncomingHttpHeaders,
  presented: PresentedToken | undefined,
  isLocal: () => boolean,
): AuthResult {
  if (auth === 'signature') return explainTokenInstead(findSignature(headers, verify), presented)
  if (auth === 'none' && isLocal()) return { kind: 'open' }
  if (presented === undefined && auth === 'none') return failed('NOT_LOCAL')
  if (presented === undefined)
    return headers.authorization === undefined
      ? failed('TOKEN_MISSING')
      : { ...failed('TOKEN_MISSING'), reason: withoutBearer }
  const token = findToken(presented.token)
  if (token === undefined) return failed('TOKEN_WRONG')
  return auth === 'both' ? findSignature(headers, verify, token) : { kind: 'token', token }
}

/** Without a verifier nothing can be authenticated: a token does not take the place of the signature. */
function findSignature(
  headers: IncomingHttpHeaders,
  verify: EndpointAuth['verify'],
  token?: FoundToken,
): AuthResult {
  const verifier = verify?.value.verifier
  if (verifier === undefined) return failed('SECRET_MISSING')
  return verifier.isPresent(headers) ? { kind: 'signature', token } : failed('SIGNATURE_MISSING')
}

/** An operator who has just configured a secret often goes on sending the token for a while. */
function explainTokenInstead(result: AuthResult, presented: PresentedToken | undefined): AuthResult {
  const sentTokenOnly =
    result.kind === 'failed' && result.failure === 'SIGNATURE_MISSING' && presented !== undefined
  return sentTokenOnly ? { ...result, reason: tokenInstead } : result
}

const withoutBearer = 'no token came: the header authorization is not `Bearer` and a token'
const tokenInstead = 'no signature came; a token did, which this endpoint does not ask for'

function failed(failure: AuthFailureCode) {
  return { kind: 'failed', failure } as const
}

/**
 * Proxies and tunnels on this machine add one of these headers to a request that they forward. Some only name the host that was
 * asked for, some only the client, and some (nginx, unless configured otherwise) add nothing but their own HTTP/1.0.
 */
const forwarding = /^(x-forwarded|forwarded|x-original-|via$|cdn-loop$|cf-|.*-ip$|.*-clientip$|tailscale-)/

/**
 * True if a program on this machine made the request; `auth: none` relies on it. The request must neither come from a browser, where any
 * web page may have written it, nor be forwarded. A page whose name was pointed to this machine (DNS rebinding) sends that name as its
 * host.
 */
export function isOfThisMachine(
  { headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>,
  client: string,
): boolean {
  return (
    httpVersion !== '1.0' &&
    isLoopback(client) &&
    isLoopback(withoutPort(headers.host ?? '')) &&
    headers.origin === undefined &&
    isSameSite(headers['sec-fetch-site']) &&
    !Object.keys(headers).some((name) => forwarding.test(name))
  )
}

/** https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header */
function isSameSite(site: string | string[] | undefined): boolean {
  return site === undefined || site === 'none' || site === 'same-origin'
}

function withoutPort(host: string): string {
  return host.replace(/:\d*$/, '')
}
