/** Defines the contract of channels: how one reply becomes messages on a chat surface. */

/** Allows at most `count` messages in any window of `ms` milliseconds. */
export interface Pace {
  readonly count: number
  readonly ms: number
}

/** The unit in which a vendor counts: UTF-16 code units, bytes of UTF-8, or Unicode code points. */
export type LengthUnit = 'utf16' | 'utf8' | 'characters'

export interface ChannelLimits {
  /** Maximum length of a part that the vendor accepts, measured in `unit` after rendering. */
  readonly part: number
  readonly unit: LengthUnit
  /**
   * Maximum number of messages that one reply becomes. The operator's `deliveries.maxMessages`, which has a default, takes precedence.
   * Of a longer reply the host sends all but one of these messages, and then a message that tells where the rest can be read.
   * If this is absent, a reply is never cut, whatever the operator has configured.
   */
  readonly parts?: number
  /** The rates that the host keeps to when it calls `send`. */
  readonly perTarget?: Pace
  readonly overall?: Pace
  /** Milliseconds after which the host aborts a `send`. Default: 30,000. */
  readonly sendTimeoutMs?: number
}

/** The place that a message goes to. Addresses of the same place have the same `key`. */
export interface Target {
  readonly key: string
  readonly kind: 'channel' | 'user' | 'group' | 'thread'
  readonly [fact: string]: unknown
}

/** Exactly one vendor message. */
export interface Part {
  readonly text: string
  readonly [fact: string]: unknown
}

/** The proof that one part was sent. It is stored and never holds a secret. */
export interface Receipt {
  /** The vendor's id of the message, or an id of the channel's own if the vendor gives none. */
  readonly id: string
  /** The vendor's time of the message in ISO 8601. */
  readonly at?: string
  /** Recipients of a group message that it did not reach. */
  readonly partial?: readonly { readonly target: string; readonly reason: string }[]
}

/** The result of a check of the service. */
export interface ChannelHealth {
  readonly ok: boolean
  /** One sentence for the operator: whose credential it is, or what is wrong. It never holds a secret. */
  readonly detail?: string
}

export interface SendCall {
  readonly target: Target
  /** `<delivery>:<part>`, with parts counted from 1. The key is the same for every attempt at the same part. */
  readonly key: string
  readonly signal: AbortSignal
}

/** Sends replies to one chat surface. The host divides the work, paces it, retries it and remembers its results. */
export interface Channel {
  /** The name of the channel in the configuration, such as `terminal` or `slack`. */
  readonly id: string
  readonly limits: ChannelLimits
  /** The window in which a repeated `key` gives no second message. If absent, a repeat may give one. */
  readonly idempotency?: { readonly windowMs: number }
  /** The address of replies if neither the request nor the last route has one. */
  readonly defaultTo?: string
  /** Parses an address. Pure. @throws PluginError `bad-target` if `to` is not an address of this channel */
  target(to: string): Target
  /** Returns the reply as messages in order, each within `limits.part`; none for blank text. Pure. */
  render(markdown: string): Part[]
  /**
   * Sends one message. It never retries by itself, except when the vendor says what to do instead (a group that has moved, a
   * token that has expired).
   * @throws PluginError with one of the codes of `ChannelErrorCode`
   */
  send(part: Part, call: SendCall): Promise<Receipt>
  /** Checks whether the credential and the service work, without sending anything. */
  check?(signal: AbortSignal): Promise<ChannelHealth>
}

/**
 * The ways in which sending fails. The host acts only on `retryable`, `retryAfter`, `maybeDelivered` and `wholeService`; codes
 * are for people and for lists.
 */
export const channelErrorCodes = [
  /** The recipient does not exist, or the address has another form. */
  'bad-target',
  /** The credential is missing, wrong or revoked, which affects the `wholeService`. */
  'bad-credential',
  /** The credential works and is not allowed to do this. */
  'forbidden',
  /** The vendor refuses the message itself. */
  'bad-request',
  'too-long',
  /** The recipient has to write first. */
  'window-closed',
  'rate-limited',
  /** The service failed (5xx), or the answer is not its own. */
  'unavailable',
  /** There was no connection, or it was cut. */
  'network',
  'redirected',
  'timeout',
  /** The host aborted the call. */
  'aborted',
] as const
export type ChannelErrorCode = (typeof channelErrorCodes)[number]
