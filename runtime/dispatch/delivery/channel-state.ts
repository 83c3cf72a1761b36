/** The state of a channel, as it is shown to users. */

export interface ChannelState {
  readonly channel: string
  /** `held`: nothing is sent before `until`. `probing`: one delivery is tried, to find out whether others can follow. */
  readonly state: 'open' | 'held' | 'probing'
  /** The channel's error code; with `reason`, its sentence, it says why the channel is held. */
  readonly code?: string
  readonly reason?: string
  /** Milliseconds since the Unix epoch. */
  readonly since?: number
  readonly until?: number
  /** The last result of the channel's `check`. */
  readonly health?: { readonly ok: boolean; readonly detail?: string; readonly at: number }
}
