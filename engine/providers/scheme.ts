/**
 * This file has the shape of the table of providers: how each sender signs, as data, and what most rows share. One small
 * verifier reads each family of schemes, so that a provider is a row and never code.
 */

export type Encoding = 'hex' | 'base64' | 'base64url'
export type HashName = 'sha1' | 'sha256' | 'sha384' | 'sha512'
/** `rfc3339` is text such as `2026-01-15T12:00:00.123456789Z`. */
export type TimeUnit = 's' | 'ms' | 'rfc3339'

export interface ProviderRow {
  /** The name in `verify.provider`. */
  readonly name: string
  /** The provider's own name. */
  readonly title: string
  /** The page that describes how it signs. */
  readonly doc: string
  /** The schemes in the order in which they are tried; none where the provider signs nothing. */
  readonly schemes: readonly Scheme[]
  /** Where the id of a delivery is. */
  readonly deliveryId?: DeliveryId
  /** For how long the provider repeats a delivery: a duration such as `3d`, or `none` where it sends each one once. */
  readonly retryHorizon: string
  readonly handshake?: HandshakeKind
  /** The headers that carry the secret itself, in lower case. No mapping sees them. */
  readonly tokenHeaders?: readonly string[]
}

export type Scheme = HmacScheme | TokenScheme | Ed25519Scheme | EcdsaScheme | OidcScheme | SnsScheme

interface Named {
  /** Distinguishes the schemes of one provider. Default: `default`. */
  readonly name?: string
  /** Which of the configured secrets are for this scheme, where their form shows it. Default: all. */
  readonly secrets?: 'whsec' | 'other'
}

/** A place in the body: a path in JSON, or the name of a form's field. */
export interface BodyPlace {
  readonly body: readonly string[]
  readonly field?: string
}

/** A signature over parts of the request. */
export interface SigningScheme extends Named {
  readonly signature: SignaturePlace
  /**
   * The template of what is signed: text, and in braces `{body}`, `{timestamp}`, `{id}`, `{url}`, `{method}`, or `{form}`: the fields of
   * a form, decoded, each distinct name and value once and in order.
   */
  readonly signed: string
  readonly timestamp?: TimestampPlace
}

/** A keyed digest over bytes of the request. */
export interface HmacScheme extends SigningScheme {
  readonly family: 'hmac'
  readonly hash: HashName
  readonly encoding: Encoding
  /** Encoding of the configured key. */
  readonly key: 'text' | 'hex' | 'base64' | 'whsec'
  /** Where the `{id}` is: headers in lower case, the preferred one first, or a place in the body. */
  readonly id?: readonly string[] | BodyPlace
  /** Form of `{url}` before it is digested. Default: as configured. */
  readonly url?: UrlStyle
  /** With `{form}`: the query parameter that holds the SHA-256, in hex, of a body that is not a form. */
  readonly bodyHash?: string
  /** Headers whose signature is weaker and is never accepted instead of this one. */
  readonly weaker?: readonly string[]
}

/** The key is the unchanged secret. */
const sha256 = { family: 'hmac', hash: 'sha256', key: 'text' } as const

/** The scheme of most senders. */
export const hexSha256 = { ...sha256, encoding: 'hex' } as const
export const base64Sha256 = { ...sha256, encoding: 'base64' } as const
export const hexSha256OfBody = { ...hexSha256, signed: '{body}' } as const

/** `twilio` writes it with and without its port. `hubspot` writes it with some escapes decoded, then unchanged. */
export type UrlStyle = 'hubspot' | 'twilio'

export type SignaturePlace = HeaderPlace | BodyPlace

export interface HeaderPlace {
  /** Names in lower case; the first that is present is read. A `*` at the end stands for every number from 1. */
  readonly headers: readonly string[]
  /** The text before each signature: `sha256=`, `v1,`. A text without it is another version, and skipped. */
  readonly prefix?: string
  /** Divides several signatures of one header, or its elements. Default between elements: a comma. */
  readonly divider?: string
  /** The name of the elements that are signatures, where the header is a list `t=…,v1=…`. */
  readonly element?: string
}

export interface TimestampPlace {
  readonly from:
    | { readonly header: readonly string[] }
    /** An element of the header that the signature is in. */
    | { readonly element: string }
    | BodyPlace
  readonly unit: TimeUnit
  /** The tolerance in seconds to both sides of now. Absent: any time is accepted unless a tolerance is configured. */
  readonly tolerance?: number
}

/** The header holds the secret itself. */
export interface TokenScheme extends Named {
  readonly family: 'token'
  readonly header: string
}

export interface Ed25519Scheme extends SigningScheme {
  readonly family: 'ed25519'
  readonly encoding: Encoding
  readonly id?: readonly string[]
  /** Encoding of the configured key, which is 32 raw bytes. */
  readonly key: 'hex' | 'whpk'
}

/** The signature is made on P-256 with SHA-256, and written as base64 of DER. */
export interface EcdsaScheme extends SigningScheme {
  readonly family: 'ecdsa'
}

/** A JWT of the sender, which proves nothing about the body. */
export interface OidcScheme extends Named {
  readonly family: 'oidc'
  /** The address of the key set. */
  readonly keys: string
  readonly issuers: readonly string[]
}

/** Fields of the body are signed with the key of a certificate that the body names. */
export interface SnsScheme extends Named {
  readonly family: 'sns'
}

/** Where the id of a delivery is: in the first of these places that has one. */
export type DeliveryId = readonly /** All of these headers together. The names are in lower case. */
(
  | { readonly headers: readonly string[] }
  /** The values at all of these paths of the payload. `[]` in a path stands for every element of a list. */
  | { readonly body: readonly string[] }
  /** The SHA-256 of the body, for senders without ids that repeat the same body. */
  | { readonly digest: 'body' }
)[]

/** The handshakes of providers: requests that are no events, and ask for an answer of a certain form. */
export type HandshakeKind =
  | 'slack'
  | 'zoom'
  | 'meta'
  | 'discord'
  | 'aws-sns'
  | 'intercom'
  | 'monday'
  | 'notion'
  | 'microsoft-graph'
  | 'cloudevents'
