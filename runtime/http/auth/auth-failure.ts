/**
 * Lists why a sender is not authenticated: stable codes and sentences for the operator. The sender reads the same 401, whatever
 * the reason.
 */

import { signatureFailures, type Unverified } from '@reveille/engine'

const sentences = {
  TOKEN_MISSING: 'no token came',
  TOKEN_WRONG: 'the token is none of those that are configured',
  NOT_LOCAL:
    'without a token the endpoint is open to programs on this machine alone; this came from a browser, from elsewhere or through a proxy',
  SECRET_MISSING: 'the endpoint wants a signature, and nothing is configured to verify one with',
  HANDSHAKE_WRONG: 'the handshake does not show what is configured',
  ...signatureFailures,
} as const

export type AuthFailureCode = keyof typeof sentences

export interface AuthFailure {
  readonly failure: AuthFailureCode
  /** One sentence for the operator that quotes nothing of the request. Default: the sentence of the code. */
  readonly reason?: string
}

/** A sender that shows nothing guesses nothing. Every other failure counts as a wrong try. */
const nothingShown: ReadonlySet<AuthFailureCode> = new Set([
  'TOKEN_MISSING',
  'NOT_LOCAL',
  'SECRET_MISSING',
  'SIGNATURE_MISSING',
])

export function isWrongTry({ failure }: AuthFailure): boolean {
  return !nothingShown.has(failure)
}

export function sentenceOf({ failure, reason = sentences[failure] }: AuthFailure): string {
  return reason
}

/** A wrong clock is found by how far it is off, so the sentence names the difference. */
export function signatureFailureOf({ code, reason = sentences[code], skewSeconds }: Unverified): AuthFailure {
  if (skewSeconds === undefined) return { failure: code, reason }
  const seconds = Math.abs(Math.round(skewSeconds)).toLocaleString('en')
  return { failure: code, reason: `${reason}: ${seconds} s in the ${skewSeconds < 0 ? 'past' : 'future'}` }
}
