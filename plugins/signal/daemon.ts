/** Owns what a channel asks of a program that speaks Signal, whichever of the two it is. */

import type { Receipt, SendCall } from '@reveille/kit'
import type { SignalConfig } from './configuration.ts'
import type { StyledPart } from './marks.ts'

export interface Daemon {
  /** @throws PluginError */
  send(part: StyledPart, call: SendCall): Promise<Receipt>
  /** As whom it sends, in a sentence. @throws PluginError where it cannot, or where nobody answers */
  look(signal: AbortSignal): Promise<string>
}

export interface DaemonOptions {
  readonly config: SignalConfig
  readonly fetch: typeof globalThis.fetch
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}
