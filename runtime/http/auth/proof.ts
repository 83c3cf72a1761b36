/** Owns what the head of a request proves of its sender, before a byte of the body is read. */

import type { IncomingHttpHeaders } from 'node:http'
import type { Entrance, FoundToken } from './doors.ts'
import type { PresentedToken } from './presented-token.ts'
import type { Distrust, TrustFailure } from './trust-failure.ts'

export type Proof =
  | { readonly kind: 'token'; readonly token: FoundToken }
  /** A signature came, to be verified over the body; where a token is asked for too, that is right. */
  | { readonly kind: 'signature'; readonly token?: FoundToken }
  /** None is asked for. */
  | { readonly kind: 'open'; readonly token?: never }
  | ({ readonly kind: 'none'; readonly token?: never } & Distrust)

/** `isLocal`: whether the gateway can be reached from this machine alone, and the request was made there. */
export function proofIn(
  { auth, verify, findToken }: Entrance,
  headers: IncomingHttpHeaders,
  given: PresentedToken | undefined,
  isLocal: () => boolean,
): Proof {
  if (auth === 'signature') return withoutNeed(signatureIn(headers, verify), given)
  if (auth === 'none' && isLocal()) return { kind: 'open' }
  if (given === undefined) return lacking(auth === 'none' ? 'NOT_LOCAL' : 'TOKEN_MISSING')
  const token = findToken(given.token)
  if (token === undefined) return lacking('TOKEN_WRONG')
  return auth === 'both' ? signatureIn(headers, verify, token) : { kind: 'token', token }
}

/** Without a verifier nobody can be believed: a token does not take its place. */
function signatureIn(headers: IncomingHttpHeaders, verify: Entrance['verify'], token?: FoundToken): Proof {
  const verifier = verify?.value.verifier
  if (verifier === undefined) return lacking('SECRET_MISSING')
  return verifier.isPresent(headers) ? { kind: 'signature', token } : lacking('SIGNATURE_MISSING')
}

/** Whoever sets a secret goes on trying with the token for a while. */
function withoutNeed(proof: Proof, given: PresentedToken | undefined): Proof {
  const isLost = proof.kind === 'none' && proof.failure === 'SIGNATURE_MISSING' && given !== undefined
  return isLost ? { ...proof, told: tokenInstead } : proof
}

const tokenInstead = 'no signature came; a token did, which this endpoint does not ask for'

function lacking(failure: TrustFailure): Proof {
  return { kind: 'none', failure }
}
