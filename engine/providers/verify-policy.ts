/** This file has the shape of a policy's `verify`: who the sender is, and what its requests are verified with. */

export interface VerifyPolicy {
  /** The name of a row of the table, or `hmac`. Absent only until the policies of an endpoint are merged. */
  readonly provider?: string
  /** Secrets as the provider shows them, the newest first. An empty one counts as absent. */
  readonly secret?: string | readonly string[]
  readonly publicKey?: string | readonly string[]
  /** How far the time of a signature may differ from the clock, in either direction. */
  readonly tolerance?: string
  /** The address that the provider calls, for providers that sign it. */
  readonly publicUrl?: string
  /** What the provider shows when it checks that the address answers; it is not the secret. */
  readonly verifyToken?: string
  readonly audience?: string
  readonly serviceAccount?: string
  readonly topicArns?: readonly string[]
  readonly signatureVersion?: 1 | 2
  readonly allowedOrigins?: readonly string[]
  readonly hmac?: HmacPolicy
  readonly challenge?: ChallengePolicy
}

/** The signing scheme of a sender that the table does not know. */
export interface HmacPolicy {
  readonly header: string
  readonly algorithm: 'sha1' | 'sha256' | 'sha384' | 'sha512'
  readonly encoding: 'hex' | 'base64' | 'base64url'
  readonly key: 'text' | 'hex' | 'base64'
  readonly signed: string
  readonly prefix?: string
  readonly divider?: string
  readonly element?: string
  readonly timestampHeader?: string
  readonly timestampElement?: string
  readonly timestampUnit: 's' | 'ms' | 'rfc3339'
  readonly idHeader?: string
  readonly deliveryIdHeader?: string
}

/** How a sender checks that the address belongs to the operator, and which answer it expects. At most one place is read. */
export interface ChallengePolicy {
  /** With POST, a challenge is answered only where the request is authenticated. */
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly query?: string
  readonly header?: string
  /** A field of the JSON body. */
  readonly body?: string
  readonly answer: 'text' | 'json' | 'header'
  /** The field of the JSON answer. Absent: the name under which the challenge came. */
  readonly field?: string
  /** Whether the answer is the digest of the challenge, written as `hmac` says of signatures. */
  readonly hmac: boolean
  /** Whether the challenge is the secret itself; while there is none, it is answered and stored for the operator. */
  readonly issuesSecret: boolean
}
