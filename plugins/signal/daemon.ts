/** Owns what a channel asks of a program that speaks Signal, whichever of the two it is. */

import type { ChannelHealth, Receipt, SendCall } from '@reveille/kit'
import type { SignalConfig } from './configuration.ts'
import type { StyledPart } from './marks.ts'

export interface Daemon {
  /** @throws PluginError */
  send(part: StyledPart, call: SendCall): Promise<Receipt>
  /** @throws PluginError where nobody answers */
  check(signal: AbortSignal): Promise<ChannelHealth>
}

export interface DaemonOptions {
  readonly config: SignalConfig
  readonly fetch: typeof globalThis.fetch
}
