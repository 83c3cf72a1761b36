/** Owns why a sender is not believed: stable codes and sentences for the operator. The sender is told of none of them. */

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

export type TrustFailure = keyof typeof sentences

export interface Distrust {
  readonly failure: TrustFailure
  /** For the operator: one sentence that quotes nothing of the request. Absent: that of the failure. */
  readonly told?: string
}

/** Nothing was shown: whoever shows nothing guesses nothing. All other failures count as a wrong try. */
const nothingShown: ReadonlySet<TrustFailure> = new Set([
  'TOKEN_MISSING',
  'NOT_LOCAL',
  'SECRET_MISSING',
  'SIGNATURE_MISSING',
])

export function isWrongTry({ failure }: Distrust): boolean {
  return !nothingShown.has(failure)
}

export function sentenceOf({ failure, told = sentences[failure] }: Distrust): string {
  return told
}

/** A clock that is wrong is found by how far it is off. */
export function distrustOf({ code, reason: told = sentences[code], skewSeconds }: Unverified): Distrust {
  if (skewSeconds === undefined) return { failure: code, told }
  const seconds = Math.abs(Math.round(skewSeconds)).toLocaleString('en')
  return { failure: code, told: `${told}: ${seconds} s in the ${skewSeconds < 0 ? 'past' : 'future'}` }
}
