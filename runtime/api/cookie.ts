/**
 * A sign-in has two halves, because a browser sends a cookie to every port of a host: the cookie, which scripts cannot read, and a key
 * that the page keeps and sends with each request. Both are stateless: the cookie has a time, an id and a signature by a key
 * that is derived from the token that was given, and the page's key follows from the first two by another such key. So a sign-in
 * ends with its token, and holds after a restart and on every node.
 */

import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { createSecretMatcher } from '@reveille/engine'
import type { FastifyRequest } from 'fastify'

export const cookieName = 'reveille_session'
/** The header with the page's half. A page of another origin cannot send it. */
const keyHeader = 'x-reveille-key'
/** Milliseconds. */
const lifetimeMs = 12 * 60 * 60 * 1000
/** Milliseconds by which the clock of the node that was signed in to may be ahead of this one's. */
const maxSkewMs = 10 * 60 * 1000

export interface SignedIn {
  /** The token that was given at the sign-in. */
  readonly token: string
  /** The id of the sign-in. */
  readonly signIn: string
  /** Milliseconds since the Unix epoch. */
  readonly until: number
}

export function createCookie(token: string, now: number) {
  const until = now + lifetimeMs
  const signed = `${until}.${randomBytes(12).toString('base64url')}`
  const value = `${signed}.${signatureOf('cookie', token, signed)}`
  return { until, value, pageKey: signatureOf('page', token, signed), maxAgeSeconds: lifetimeMs / 1000 }
}

/** Returns undefined for halves that none of these tokens has signed, that do not belong together, and that have expired. */
export function readCookie(
  value: string | undefined,
  pageKey: string | undefined,
  tokens: readonly string[],
  now: number,
): SignedIn | undefined {
  const [, signed = '', time = '', signIn = '', signature = ''] =
    /^((\d{1,15})\.([\w-]{16}))\.([\w-]{43})$/.exec(value ?? '') ?? []
  const until = Number(time)
  if (time === '' || until <= now || until > now + lifetimeMs + maxSkewMs) return undefined
  const match = createSecretMatcher(tokens.map((token) => signatureOf('cookie', token, signed)))(signature)
  const token = match === undefined ? undefined : tokens[match]
  if (token === undefined || pageKey === undefined) return undefined
  const isOfPage = createSecretMatcher([signatureOf('page', token, signed)])(pageKey) !== undefined
  return isOfPage ? { token, signIn, until } : undefined
}

/** The half of a sign-in that the page keeps. */
export function pageKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers[keyHeader]
  return typeof key === 'string' ? key : undefined
}

/** True if a value's expiry is in the future. If no token has signed it, it is a guess, and no cookie of yesterday. */
export function isUnexpired(value: string | undefined, now: number): boolean {
  return Number(/^\d{1,15}(?=\.)/.exec(value ?? '')?.[0] ?? 0) > now
}

/** The value of the cookie that a request has. */
export function cookieOf({ cookies }: FastifyRequest): string | undefined {
  return cookies[cookieName]
}

/** A browser sends a secure cookie over TLS alone. */
export function cookieOptions({ protocol }: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'strict', secure: protocol === 'https' } as const
}

function signatureOf(half: 'cookie' | 'page', token: string, signed: string): string {
  const key = Buffer.from(hkdfSync('sha256', token, '', `reveille sign-in ${half}`, 32))
  return createHmac('sha256', key).update(signed).digest('base64url')
}
