/** This file describes a diagnosis: the result, and the findings that explain it. It holds no secret and no part of the request. */

import type { SignatureFailure } from '../verifier.ts'

/** The codes are stable, because programs read them. The sentences are not. */
export const findingCodes = {
  NO_VERIFY: 'the endpoint has no `verify`: it takes the token, and looks at no signature',
  SIGNS_NOTHING: 'its provider signs nothing: it takes the token',
  NO_SECRET: 'there is nothing to verify with yet: the secret or key of `verify` is empty',
  SIGNATURE_NOT_ASKED: '`auth: token` asks for the token alone: no signature is looked at',
  NOTHING_ASKED: '`auth: none` asks nothing of senders on this machine, and refuses all others',
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
  OTHER_ENDPOINT: 'it fits what another endpoint is configured with',
  URL: 'it fits another address than the configured one',
  BODY_FORM: 'it fits the body in another form: something between the sender and the gateway rewrote it',
  LENGTH: 'the body is not as long as the sender said',
  UNEXPLAINED: 'nothing that was tried fits: the secret is another one, or the body was changed',
  REFUSED: 'the code says all that is known',
} as const

export type FindingCode = keyof typeof findingCodes

/** The names of its fields, and of those of a diagnosis, are printed by `doctor signature --json`. */
export interface Finding {
  readonly code: FindingCode
  /** One sentence, without a full stop. */
  readonly told: string
  /** What to do about it, in one sentence or two. */
  readonly advice?: string
}

/** The codes that the log and the record of a refused request have, and two for requests that are accepted. */
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
  /** Whether the gateway would accept the request as one of its sender. */
  readonly taken: boolean
  readonly code: DiagnosisCode
  /** One sentence, without a full stop. */
  readonly told: string
  readonly provider?: string
  readonly scheme?: string
  /** The number of the secret that matched, from 1, the newest first. */
  readonly secret?: number
  readonly secrets?: number
  /** By how many seconds the signature's time is off; negative where it lies in the past. */
  readonly skewSeconds?: number
  /** The status of the answer to a handshake. */
  readonly status?: number
  /** The most telling finding comes first. */
  readonly findings: readonly Finding[]
  readonly compared: Compared
}

/** What was looked at, so that the operator can compare it with what the sender sent. */
export interface Compared {
  readonly bodyBytes: number
  /** In hex. */
  readonly bodySha256: string
  /** The clock, as ISO 8601. */
  readonly now: string
  /** The names of the headers that came in which signatures and their times stand. */
  readonly headers: readonly string[]
}

export function finding(code: FindingCode, told?: string, advice?: string): Finding {
  return { code, told: told ?? findingCodes[code], ...(advice !== undefined && { advice }) }
}
