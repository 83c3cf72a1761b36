/** Owns what a diagnosis says: the verdict, and what was found that explains it. No part of it is secret, or of the request. */

import type { SignatureFailure } from '../verifier.ts'

/** Stable: programs read them. The sentences are not. */
export const findingCodes = {
  NO_VERIFY: 'the endpoint has no `verify`: it takes the token, and looks at no signature',
  SIGNS_NOTHING: 'its provider signs nothing: it takes the token',
  NO_SECRET: 'there is nothing to verify with yet: the secret or key of `verify` is empty',
  SIGNATURE_NOT_ASKED: '`auth: token` asks for the token alone: no signature is looked at',
  NOTHING_ASKED: '`auth: none` asks nothing of senders on this machine, and lets nobody else in',
  TOKEN_MISSING: 'the token is missing',
  TOKEN_WRONG: 'the token is wrong',
  OLDER_TOKEN: 'an older token was shown: the newest one is not in use everywhere yet',
  METHOD_NOT_ALLOWED: 'the method is not POST, and it is no handshake',
  HANDSHAKE_WRONG: 'it is a handshake that shows something else than what is configured',
  HANDSHAKE: 'it is a handshake, and no event: the gateway answers it, and nothing else comes of it',
  OLDER_SECRET: 'an older secret fits: the newest one is not in use at the sender yet',
  CLOCK: 'the signature is right, but its time is not',
  HEADER_MISSING: 'the signature is missing',
  WEAKER_ONLY: 'only a weaker signature came, which is never taken in place of the stronger one',
  OTHER_HEADERS: 'it bears signatures of other senders',
  KEY_IN_OTHER_FIELD: 'it fits the text that stands in the other field of `verify`',
  SECRET_FORM: 'it fits the configured secret in another form',
  OTHER_ENDPOINT: 'it fits what another endpoint is configured with',
  OTHER_PROVIDER: 'it fits this secret by the way of another provider',
  SIGNED_FORM: 'it covers something else than this provider signs',
  URL: 'it fits another address than the configured one',
  SIGNATURE_FORM: 'the digest is right, and written in another way',
  BODY_FORM: 'it fits the body in another form: something between the sender and the gateway rewrote it',
  LENGTH: 'the body is not as long as the sender said',
  BODY_GUESSED: 'the file holds the body as a value, and its bytes are a guess',
  UNEXPLAINED: 'nothing that was tried fits: the secret is another one, or the body was changed',
  REFUSED: 'the verdict says all that is known',
} as const

export type FindingCode = keyof typeof findingCodes

export interface Finding {
  readonly code: FindingCode
  /** One sentence, without a full stop. */
  readonly told: string
  /** What to do: one sentence or two. */
  readonly advice?: string
}

/** As the log and the record of a refused request have them, and two for those that are taken. */
export type DiagnosisCode =
  | 'TAKEN'
  | 'HANDSHAKE'
  | 'METHOD_NOT_ALLOWED'
  | 'TOKEN_MISSING'
  | 'TOKEN_WRONG'
  | 'SECRET_MISSING'
  | 'HANDSHAKE_WRONG'
  | SignatureFailure

export interface Diagnosis {
  /** Whether the gateway would take the request for one of its sender. */
  readonly taken: boolean
  readonly code: DiagnosisCode
  /** One sentence, without a full stop. */
  readonly told: string
  readonly provider?: string
  readonly scheme?: string
  /** Which of the secrets it was made with, from 1, the newest first. */
  readonly secret?: number
  readonly secrets?: number
  /** Seconds; negative: the signature's time lies in the past. */
  readonly skewSeconds?: number
  /** Of the answer to a handshake. */
  readonly status?: number
  /** The most telling first. */
  readonly findings: readonly Finding[]
  readonly compared: Compared
}

/** What was looked at, so that it can be compared with what the sender sent. */
export interface Compared {
  readonly bodyBytes: number
  /** Hex. */
  readonly bodySha256: string
  /** The clock, as ISO 8601. */
  readonly now: string
  /** The names of headers in which signatures and their times stand, those that came. */
  readonly headers: readonly string[]
}

export function finding(code: FindingCode, told?: string, advice?: string): Finding {
  return { code, told: told ?? findingCodes[code], ...(advice !== undefined && { advice }) }
}
