/** Defines what a provider's API tells of what it could not deliver. */

/** An event that the provider sent, or meant to send, and that was not taken. */
export interface Missed {
  /** The id by which the same event is recognised, however it comes. */
  readonly id: string
  /** When it was sent, in milliseconds since the Unix epoch. */
  readonly at: number
  /** Undefined where the provider no longer has its content. */
  read(): Promise<MissedRequest | undefined>
}

/** What the provider would have posted. */
export interface MissedRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface MissedList {
  readonly count: number
  /** What keeps the provider from sending anything, as a sentence for the operator. */
  readonly problem?: string
  /** The oldest first. */
  readonly items: AsyncIterable<Missed> | Iterable<Missed>
}

/** @throws PluginError */
export interface Feed {
  /** Lists what was not delivered from this time on, in milliseconds since the Unix epoch. */
  missedSince(from: number): Promise<MissedList>
}
