/**
 * Owns the shape of the table of providers: what each sender's way of signing is, as data. One small verifier reads
 * each family; a provider is a row, and never code.
 */

export type Encoding = 'hex' | 'base64' | 'base64url'
export type HashName = 'sha1' | 'sha256' | 'sha384' | 'sha512'
/** `rfc3339`: text such as `2026-01-15T12:00:00.123456789Z`. */
export type TimeUnit = 's' | 'ms' | 'rfc3339'

export interface ProviderRow {
  /** As `verify.provider` names it. */
  readonly name: string
  /** As its makers write it. */
  readonly title: string
  /** Where its makers, or whoever knows, describe how it signs. */
  readonly doc: string
  /** In the order in which they are tried. None: it signs nothing. */
  readonly schemes: readonly Scheme[]
  /** How one delivery is told from another. */
  readonly deliveryId?: DeliveryId
  /** How long after the first try a delivery may come again: a duration such as `3d`, or `none` where it is sent once. */
  readonly retryHorizon: string
  readonly handshake?: HandshakeKind
  /** Headers that carry the secret itself: no mapping sees them. Names in lower case. */
  readonly tokenHeaders?: readonly string[]
}

export type Scheme = HmacScheme | TokenScheme | Ed25519Scheme | EcdsaScheme | OidcScheme | SnsScheme

interface Named {
  /** Tells the schemes of one provider apart. Default: `default`. */
  readonly name?: string
  /** Which of the configured secrets are meant for this scheme, where that shows in their form. Default: all. */
  readonly secrets?: 'whsec' | 'other'
}

/** By its path in the JSON body, or the name of a form's field. */
export interface BodyPlace {
  readonly body: readonly string[]
  readonly field?: string
}

/** A keyed digest over bytes of the request. */
export interface HmacScheme extends Named {
  readonly family: 'hmac'
  readonly hash: HashName
  readonly encoding: Encoding
  /** How the configured text becomes the key. */
  readonly key: 'text' | 'hex' | 'base64' | 'whsec'
  readonly signature: SignaturePlace
  /**
   * What is digested: text, and in braces `{body}`, `{timestamp}`, `{id}`, `{url}`, `{method}`, or `{form}`: the fields of
   * a form, decoded, each distinct name and value once and in order.
   */
  readonly signed: string
  readonly timestamp?: TimestampPlace
  /** Where the `{id}` stands: headers in lower case, by preference, or a place in the body. */
  readonly id?: readonly string[] | BodyPlace
  /** How the `{url}` may be written before it is digested. Default: as configured. */
  readonly url?: UrlStyle
  /** The parameter of the query that holds the SHA-256 of a body that is no form, in hex: with `{form}`. */
  readonly bodyHash?: string
  /** Headers whose signature is weaker and never stands in for this one. */
  readonly weaker?: readonly string[]
}

/** `twilio`: with and without its port. `hubspot`: with some escapes decoded, then as it is. */
export type UrlStyle = 'hubspot' | 'twilio'

export type SignaturePlace = HeaderPlace | BodyPlace

export interface HeaderPlace {
  /** In lower case; the first that is present is taken. A `*` at the end stands for every number from 1. */
  readonly headers: readonly string[]
  /** Before each signature: `sha256=`, `v1,`. What does not begin with it is another version, and skipped. */
  readonly prefix?: string
  /** Between several signatures of one header, or between its elements. Default of the latter: a comma. */
  readonly divider?: string
  /** The header is a list `t=…,v1=…` and the signatures are its elements of this name. */
  readonly element?: string
}

export interface TimestampPlace {
  readonly from:
    | { readonly header: readonly string[] }
    /** Of the header that the signature stands in. */
    | { readonly element: string }
    | BodyPlace
  readonly unit: TimeUnit
  /** Seconds, on both sides of now; absent: there is no window unless one is configured. */
  readonly tolerance?: number
}

/** The header holds the secret itself. */
export interface TokenScheme extends Named {
  readonly family: 'token'
  readonly header: string
}

export interface Ed25519Scheme extends Named {
  readonly family: 'ed25519'
  readonly encoding: Encoding
  readonly signature: SignaturePlace
  readonly signed: string
  readonly timestamp?: TimestampPlace
  readonly id?: readonly string[]
  /** How the configured text becomes the key: 32 raw bytes. */
  readonly key: 'hex' | 'whpk'
}

export interface EcdsaScheme extends Named {
  readonly family: 'ecdsa'
  /** P-256 with SHA-256, the signature base64 of DER. */
  readonly signature: SignaturePlace
  readonly signed: string
  readonly timestamp?: TimestampPlace
}

/** A JWT of the sender, which says nothing of the body. */
export interface OidcScheme extends Named {
  readonly family: 'oidc'
  /** Where the key set is. */
  readonly keys: string
  readonly issuers: readonly string[]
}

/** Fields of the body, signed with the key of a certificate that the body names. */
export interface SnsScheme extends Named {
  readonly family: 'sns'
}

/** Where the id of a delivery stands: the first of them that is there. */
export type DeliveryId = readonly /** In lower case; all of them together. */
(
  | { readonly headers: readonly string[] }
  /** Paths in the payload; all of them together. `[]` in a path stands for every element of a list. */
  | { readonly body: readonly string[] }
  /** There is no id, and every try of a delivery has the same body: its SHA-256. */
  | { readonly digest: 'body' }
)[]

/** Requests that are no events: they ask whether somebody is there, and for an answer of a certain form. */
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
