/** Finds the token that a request presents, and removes tokens from what mappings see. */

import type { IncomingHttpHeaders } from 'node:http'
import type { Fields, Snapshot } from '@reveille/engine'

export interface PresentedToken {
  readonly token: string
  /** True if it came as `?token=`, which proxies and browsers write into their logs. */
  readonly deprecated: boolean
}

/**
 * The first form that is present decides, so a right token in a later form does not make up for a wrong one. `taken`
 * lists headers that belong to the provider, if a token is required beside a signature.
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
  const queryToken = query['token']
  const first = typeof queryToken === 'string' ? queryToken : queryToken?.[0]
  return first ? { token: first, deprecated: true } : undefined
}

/** The headers of the endpoint's provider that hold its secret, or a token that others could use. */
export function tokenHeadersOf({ effectivePolicyOf }: Snapshot, endpoint: string): readonly string[] {
  return effectivePolicyOf(endpoint)?.verify?.value.tokenHeaders ?? []
}

/** The headers that mappings see: without a prototype, and without the tokens of the gateway and of the provider. */
export function withoutTokens(
  headers: IncomingHttpHeaders,
  tokenHeaders: readonly string[],
): Record<string, string | readonly string[] | undefined> {
  const passed: Record<string, string | readonly string[] | undefined> = Object.create(null)
  for (const name in headers) {
    if (name === 'authorization' || name === 'x-gateway-token' || name === 'x-openclaw-token') continue
    if (!tokenHeaders.includes(name)) passed[name] = headers[name]
  }
  return passed
}

/** The query that mappings see: the gateway's token must not end up in a prompt. */
export function withoutToken(query: Readonly<Fields>): Readonly<Fields> {
  if (query['token'] === undefined) return query
  const passed: Fields = Object.assign(Object.create(null), query)
  delete passed['token']
  return passed
}

/** Another scheme, or `Bearer` alone, is no token. */
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
