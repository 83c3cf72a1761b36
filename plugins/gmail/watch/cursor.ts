/** Owns what is kept of how far a mailbox was read. */

/** Kept as `cursor`. */
export interface Cursor {
  readonly account: string
  /** Everything up to here is posted, or in `refused`. A decimal number. */
  readonly historyId: string
  /** When the mailbox was last read to its end, in milliseconds since the Unix epoch. */
  readonly readAt: number
  readonly watch?: {
    readonly topic: string
    readonly labelId: string
    readonly begunAt: number
    readonly endsAt: number
  }
  /** Mails that were posted last, the newest at the end: some may be told of again. */
  readonly recent: readonly string[]
  /** Mails that the gateway did not take, to be tried again. */
  readonly refused: readonly RefusedMail[]
}

export interface RefusedMail {
  readonly id: string
  /** The gateway's code. */
  readonly code: string
  readonly tries: number
  /** Milliseconds since the Unix epoch. */
  readonly since: number
  readonly nextTryAt: number
}
