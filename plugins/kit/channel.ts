/** Owns the channel contract: how one reply becomes messages on a chat surface. */

/** At most `count` messages in any window of `ms` milliseconds. */
export interface Pace {
  readonly count: number
  readonly ms: number
}

export interface ChannelLimits {
  /** The longest part that the vendor takes, measured in `unit` after rendering. */
  readonly part: number
  readonly unit: 'utf16' | 'utf8'
  readonly perTarget?: Pace
  readonly overall?: Pace
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

export interface ChannelHealth {
  readonly ok: boolean
  /** One sentence for the operator. */
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
  /** One call, one vendor message. @throws PluginError */
  send(part: Part, call: SendCall): Promise<Receipt>
  /** Whether the credential and the service are good; sends nothing. */
  check?(signal: AbortSignal): Promise<ChannelHealth>
}
