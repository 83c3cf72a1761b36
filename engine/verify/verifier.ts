/** Defines the input and the result of a verifier. */

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** A request as it was received: nothing in it has been decoded, parsed or written again. */
export interface SignedRequest {
  readonly method: string
  /** The request target, path and query, as received: `/hooks/twilio?bodySHA256=…`. */
  readonly target: string
  /** The names are in lower case. */
  readonly headers: Headers
  /** The bytes of the body as they were sent. */
  readonly rawBody: Uint8Array
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

/**
 * A verifier of a scheme, or of all schemes of a provider, with its keys read once. It does not throw for a key that cannot
 * be read, which is reported when the configuration is loaded; such a key matches nothing.
 */
export interface Verifier {
  /**
   * True if the request carries a signature, as far as its headers show. Without one the body need not be read. A provider's
   * verifier counts a signature that is too weak as well, so that its failure can say so.
   */
  isPresent(headers: Headers): boolean
  /**
   * Never throws for what a request holds. Returns a promise only where keys may have to be fetched. `TIMESTAMP_OUTSIDE` means a right signature at the wrong time, and nothing else does.
   * @throws UnavailableError, or rejects with it
   */
  verify(request: SignedRequest, dependencies: VerifyDependencies): VerifyResult | Promise<VerifyResult>
}

/** The reason why a request is not authenticated. The operator sees the code and the sentence, the sender neither; codes are stable. */
export const signatureFailures = {
  SIGNATURE_MISSING: 'no signature came',
  SIGNATURE_MALFORMED: 'the signature is not written as the provider writes it',
  SIGNATURE_MISMATCH: 'the signature does not match: wrong secret, or the body was changed on the way',
  SIGNATURE_WEAKER: 'only a weaker signature came, which is never taken in place of the stronger one',
  TIMESTAMP_MISSING: 'the time of the signature is missing',
  TIMESTAMP_MALFORMED: 'the time of the signature is not written as the provider writes it',
  TIMESTAMP_OUTSIDE: 'the time of the signature lies outside the tolerance',
  BODY_MALFORMED: 'the body does not hold what the signature is looked for in',
  BODY_NOT_COVERED: 'the signature does not cover the body',
  TOKEN_EXPIRED: 'the token of the sender is not valid at this time',
  WRONG_AUDIENCE: 'the token was made for another audience',
  WRONG_SENDER: 'the token is genuine, and of a sender that is not the configured one',
  WRONG_TOPIC: 'the message is genuine, and of a topic that is not among the configured ones',
  KEY_UNKNOWN: 'the provider has no key of the name that the signature bears',
  KEY_REFUSED: 'the key or certificate that the signature names is not one to be believed',
  KEYS_UNAVAILABLE: "the provider's keys could not be fetched",
} as const

export type SignatureFailure = keyof typeof signatureFailures

export type VerifyResult = Verified | Unverified

export interface Verified {
  readonly ok: true
  /** The name of the scheme that matched: `default` where the provider has only one. */
  readonly scheme: string
  /** The index of the configured secret or key that matched, from 0, the newest first. */
  readonly secret: number
}

export interface Unverified {
  readonly ok: false
  readonly code: SignatureFailure
  /** One sentence for the operator, which quotes neither the request nor a secret. Absent: the sentence of the code. */
  readonly reason?: string
  /** By how many seconds the signature's time is off; negative where it lies in the past. */
  readonly skewSeconds?: number
}

/** True if the signature itself is right, whatever the clock says. */
export function isSignatureRight(result: VerifyResult): boolean {
  return result.ok || result.code === 'TIMESTAMP_OUTSIDE'
}

export function unverified(code: SignatureFailure, more: Omit<Unverified, 'ok' | 'code'> = {}): Unverified {
  return { ok: false, code, ...more }
}

/** A verifier's requirements of its host; the engine itself opens no connection. */
export interface VerifyDependencies {
  /**
   * Fetches a small text from a public https address, and caches it as long as its server says: keys and certificates.
   * `fresh` passes the cache by, though at most once a minute for each address.
   * @throws UnavailableError when it cannot be fetched
   */
  download(url: string, options?: { readonly fresh?: boolean }): Promise<string>
}

/**
 * Thrown if something that a verification needs is out of reach for now: the request is neither right nor wrong, and may be sent again.
 */
export class UnavailableError extends Error {
  /** True if the server answered that it has nothing of that name, so that waiting does not help. */
  readonly isAbsent: boolean

  constructor(message: string, options: ErrorOptions & { readonly isAbsent?: boolean } = {}) {
    super(message, options)
    this.name = 'UnavailableError'
    this.isAbsent = options.isAbsent ?? false
  }
}
