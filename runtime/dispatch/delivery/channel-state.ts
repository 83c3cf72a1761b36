/** Owns how a channel fares, as people are shown it. */

export interface ChannelState {
  readonly channel: string
  /** `held`: nothing is sent before `until`. `probing`: one delivery is tried, to see whether the others can follow. */
  readonly state: 'open' | 'held' | 'probing'
  /** Why it is held: the channel's error code, and its sentence. */
  readonly code?: string
  readonly reason?: string
  /** Milliseconds since the Unix epoch. */
  readonly since?: number
  readonly until?: number
  /** What its `check` said last. */
  readonly health?: { readonly ok: boolean; readonly detail?: string; readonly at: number }
}
