/**
 * The cookie of a browser that has signed in. It is stateless: a time and a signature by a key that is derived from the gateway token that was
 * given, so that it ends with that token, after a restart and on every node.
 */

import { createHmac, hkdfSync } from 'node:crypto'
import { createSecretMatcher } from '@reveille/engine'
import type { FastifyRequest } from 'fastify'

const name = 'reveille_session'
/** Milliseconds. */
const lifetimeMs = 12 * 60 * 60 * 1000

export interface SignedIn {
  /** The token that was given at the sign-in. */
  readonly token: string
  /** Milliseconds since the Unix epoch. */
  readonly until: number
}

export function createCookie(token: string, now: number) {
  const until = now + lifetimeMs
  return { until, value: `${until}.${signatureOf(token, until)}`, maxAgeSeconds: lifetimeMs / 1000 }
}

/** Returns undefined for a cookie that none of these tokens has signed, and for one that has expired. */
export function readCookie(value: string, tokens: readonly string[], now: number): SignedIn | undefined {
  const [, time = '', signature = ''] = /^(\d{1,15})\.([\w-]{43})$/.exec(value) ?? []
  const until = Number(time)
  if (time === '' || until <= now || until > now + lifetimeMs) return undefined
  const match = createSecretMatcher(tokens.map((token) => signatureOf(token, until)))(signature)
  const token = match === undefined ? undefined : tokens[match]
  return token === undefined ? undefined : { token, until }
}

/** Whether a value has a time to come: if no token has signed it, it is a guess, and no cookie of yesterday. */
export function isUnexpired(value: string | undefined, now: number): boolean {
  return Number(/^\d{1,15}(?=\.)/.exec(value ?? '')?.[0] ?? 0) > now
}

/** The value of the cookie that a request has. */
export function cookieOf({ headers }: FastifyRequest): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

/** The value of `Set-Cookie`. A browser sends a secure cookie over TLS alone. */
export function setCookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict`
  return `${name}=${value}; ${attributes}${isSecure ? '; Secure' : ''}`
}

function signatureOf(token: string, until: number): string {
  const key = Buffer.from(hkdfSync('sha256', token, '', 'reveille session cookie', 32))
  return createHmac('sha256', key).update(String(until)).digest('base64url')
}
