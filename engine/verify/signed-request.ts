/** Owns what a verifier is shown of a request, and what it says of it. */

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** A request as it was received; nothing in it has been decoded, parsed or written anew. */
export interface SignedRequest {
  readonly method: string
  /** The request target, path and query, as received: `/hooks/twilio?bodySHA256=…`. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Headers
  /** The bytes of the body as they were sent. */
  readonly rawBody: Uint8Array
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

/** Why a request is not taken for one of its provider. Told to the operator, never to the sender; codes are stable. */
export const signatureFailures = {
  SIGNATURE_MISSING: 'no signature came',
  SIGNATURE_MALFORMED: 'the signature is not written as the provider writes it',
  SIGNATURE_MISMATCH:
    'the signature does not fit: the secret is another one, or the body was changed on its way',
  SIGNATURE_WEAKER: 'only a weaker signature came, which is never taken in place of the stronger one',
  TIMESTAMP_MISSING: 'the time of the signature is missing',
  TIMESTAMP_MALFORMED: 'the time of the signature is not written as the provider writes it',
  TIMESTAMP_OUTSIDE: 'the time of the signature lies outside the tolerance',
  BODY_MALFORMED: 'the body does not hold what the signature is looked for in',
  BODY_NOT_COVERED: 'the signature does not cover the body',
  TOKEN_EXPIRED: 'the token of the sender is not valid at this time',
  WRONG_AUDIENCE: 'the token was made for somebody else',
  WRONG_SENDER: 'the token is genuine, and of a sender that is not the configured one',
  WRONG_TOPIC: 'the message is genuine, and of a topic that is not among the configured ones',
  KEY_UNKNOWN: 'the provider has no key of the name that the signature bears',
  KEY_REFUSED: 'the key or certificate that the signature names is not one to be believed',
  KEYS_UNAVAILABLE: "the provider's keys could not be fetched",
} as const

export type SignatureFailure = keyof typeof signatureFailures

export type Verdict = Verified | Unverified

export interface Verified {
  readonly ok: true
  /** Which of the provider's schemes it was, by its name: `default` where there is one only. */
  readonly scheme: string
  /** Which of the configured secrets or keys it was made with, from 0, the newest first. */
  readonly secret: number
}

export interface Unverified {
  readonly ok: false
  readonly code: SignatureFailure
  /** For the operator: one sentence that quotes neither the request nor a secret. Absent: the sentence of the code. */
  readonly told?: string
  /** By how many seconds the signature's time is off; negative: it lies in the past. */
  readonly skewSeconds?: number
}

/** Whether the signature itself is right, whatever the clock says: for whoever looks at requests of another day. */
export function isSignatureRight(verdict: Verdict): boolean {
  return verdict.ok || verdict.code === 'TIMESTAMP_OUTSIDE'
}

export function unverified(code: SignatureFailure, more: Omit<Unverified, 'ok' | 'code'> = {}): Unverified {
  return { ok: false, code, ...more }
}

/** What a verifier may ask of its host; the engine itself opens no connection. */
export interface VerifyMeans {
  /**
   * A small text at a public https address, kept as long as its server says: keys and certificates.
   * `fresh`: asked for anew, though at most once a minute for each address.
   * @throws UnavailableError when it cannot be had
   */
  download(url: string, options?: { readonly fresh?: boolean }): Promise<string>
}

/** What a verdict needs is out of reach for now: the request is neither good nor bad, and may be sent again. */
export class UnavailableError extends Error {
  /** Its server was asked, and has nothing of that name: it is not only for now. */
  readonly isAbsent: boolean

  constructor(message: string, options: ErrorOptions & { readonly isAbsent?: boolean } = {}) {
    super(message, options)
    this.name = 'UnavailableError'
    this.isAbsent = options.isAbsent ?? false
  }
}
