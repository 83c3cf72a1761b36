/** Owns the channel contract: how one reply becomes messages on a chat surface. */

/** At most `count` messages in any window of `ms` milliseconds. */
export interface Pace {
  readonly count: number
  readonly ms: number
}

/** What a vendor counts: UTF-16 code units, bytes of UTF-8, or Unicode code points. */
export type LengthUnit = 'utf16' | 'utf8' | 'characters'

export interface ChannelLimits {
  /** The longest part that the vendor takes, measured in `unit` after rendering. */
  readonly part: number
  readonly unit: LengthUnit
  /**
   * Messages that one reply becomes at most, where the operator's `deliveries.maxMessages` does not say another number, which
   * it does by default. Of a longer reply the host sends so many less one, and then where the rest can be read. Absent: a
   * reply is never cut, whatever the operator says.
   */
  readonly parts?: number
  /** The host keeps to these before it calls `send`. */
  readonly perTarget?: Pace
  readonly overall?: Pace
  /** How long one `send` may take before the host ends it. Milliseconds; default 30,000. */
  readonly sendTimeoutMs?: number
}

/** Where a message goes. Two texts that mean the same place give the same `key`. */
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

/** The proof that one part was sent. Stored; never holds a secret. */
export interface Receipt {
  /** The vendor's id of the message, or one of the channel's own where the vendor gives none. */
  readonly id: string
  /** The vendor's time of the message, ISO 8601. */
  readonly at?: string
  /** Recipients of a group message that it did not reach. */
  readonly partial?: readonly { readonly target: string; readonly reason: string }[]
}

/** What a look at the service gave. */
export interface ChannelHealth {
  readonly ok: boolean
  /** One sentence for the operator: as whom the credential is known, or what is wrong with it. Never a secret. */
  readonly detail?: string
}

export interface SendCall {
  readonly target: Target
  /** `<delivery>:<part>`, parts counted from 1; equal on every attempt at the same part. */
  readonly key: string
  readonly signal: AbortSignal
}

/** Sends replies to one chat surface. The host splits work, paces, retries and remembers. */
export interface Channel {
  /** The name that configuration uses: `terminal`, `slack`. */
  readonly id: string
  readonly limits: ChannelLimits
  /** A repeated `key` within the window gives no second message. Absent: a repeat may double. */
  readonly idempotency?: { readonly windowMs: number }
  /** Where replies go when neither the request nor the last route says. */
  readonly defaultTo?: string
  /** Pure. @throws PluginError `bad-target` when `to` is no address of this channel. */
  target(to: string): Target
  /** Pure. The reply as vendor messages, in order, each within `limits.part`; none for blank text. */
  render(markdown: string): Part[]
  /**
   * One call, one vendor message. Never tries again by itself, save where the vendor says what to do instead (a group that
   * has moved, a token that is over).
   * @throws PluginError with one of the codes of `ChannelErrorCode`
   */
  send(part: Part, call: SendCall): Promise<Receipt>
  /** Whether the credential and the service are good; sends nothing. */
  check?(signal: AbortSignal): Promise<ChannelHealth>
}

/**
 * What goes wrong with sending. The host knows what to do by `retryable`, `retryAfter`, `maybeDelivered` and
 * `wholeChannel` alone; codes are for people and for lists.
 */
export const channelErrorCodes = [
  /** There is no such recipient, or not in this form. */
  'bad-target',
  /** The credential is missing, wrong or revoked: `wholeChannel`. */
  'bad-credential',
  /** The credential is good, and may not do this. */
  'forbidden',
  /** The vendor refuses the message for what it is. */
  'bad-request',
  'too-long',
  /** The recipient has to write first. */
  'window-closed',
  'rate-limited',
  /** The service is there and cannot: 5xx, or what is no answer of it. */
  'unavailable',
  /** No connection, or one that was cut. */
  'network',
  'redirected',
  'timeout',
  /** Called off by the host. */
  'aborted',
] as const
export type ChannelErrorCode = (typeof channelErrorCodes)[number]
