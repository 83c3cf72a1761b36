/** Owns which token a request presents, and keeping tokens from mappings; whether it is a right one is for `doors.ts`. */

import type { IncomingHttpHeaders } from 'node:http'
import type { Snapshot } from '@reveille/engine'
import type { Fields } from '../body/fields.ts'

export interface PresentedToken {
  readonly token: string
  /** True for `?token=`, which proxies and browsers write into their logs. */
  readonly deprecated: boolean
}

/**
 * The first form that is present decides: a wrong token is not rescued by a later form. `taken`: headers that belong to
 * the provider, where a token is asked for beside its signature.
 */
export function presentedToken(
  headers: IncomingHttpHeaders,
  query: Readonly<Fields>,
  allowQueryToken: boolean,
  taken: readonly string[] = [],
): PresentedToken | undefined {
  const token =
    bearerOf(taken.includes('authorization') ? undefined : headers.authorization) ??
    headerText(headers['x-gateway-token']) ??
    headerText(headers['x-openclaw-token'])
  if (token !== undefined) return { token: asUtf8(token), deprecated: false }
  if (!allowQueryToken) return undefined
  const given = query['token']
  const first = typeof given === 'string' ? given : given?.[0]
  return first ? { token: first, deprecated: true } : undefined
}

/** Headers of the endpoint's provider that hold its secret, or a token that others could use. */
export function tokenHeadersOf({ termsOf }: Snapshot, endpoint: string): readonly string[] {
  return termsOf(endpoint)?.verify?.value.tokenHeaders ?? []
}

/** Headers as mappings see them: names have no prototype behind them, and tokens are gone, ours and the provider's. */
export function withoutTokens(
  headers: IncomingHttpHeaders,
  tokenHeaders: readonly string[],
): Record<string, string | readonly string[] | undefined> {
  const kept: Record<string, string | readonly string[] | undefined> = Object.create(null)
  for (const name in headers) {
    if (name === 'authorization' || name === 'x-gateway-token' || name === 'x-openclaw-token') continue
    if (!tokenHeaders.includes(name)) kept[name] = headers[name]
  }
  return kept
}

/** The query as mappings see it: a prompt is no place for our token. */
export function withoutToken(query: Readonly<Fields>): Readonly<Fields> {
  if (query['token'] === undefined) return query
  const kept: Fields = Object.assign(Object.create(null), query)
  delete kept['token']
  return kept
}

/** Another scheme, or Bearer with nothing behind it, is not a token at all. */
function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !/^bearer /i.test(authorization)) return undefined
  return authorization.slice('bearer '.length).trim() || undefined
}

function headerText(header: string | string[] | undefined): string | undefined {
  return (typeof header === 'string' ? header.trim() : header?.[0]) || undefined
}

/** Node reads header bytes as Latin-1; a configured token is UTF-8. */
function asUtf8(header: string): string {
  return /[\x80-\xff]/.test(header) ? Buffer.from(header, 'latin1').toString('utf8') : header
}
