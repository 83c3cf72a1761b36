/** Describes what the channel asks of a program that speaks Signal, whether that is signal-cli or its REST wrapper. */

import type { Receipt, SendCall, VendorContext } from '@reveille/kit'
import type { StyledPart } from './render.ts'

/** A configuration that `config.schema.json` has accepted, with its defaults filled in. */
export interface SignalConfig {
  readonly account?: string
  readonly defaultTo?: string
  readonly baseUrl: string
  readonly api: 'json-rpc' | 'rest'
  readonly allowRemote: boolean
}

export interface Daemon {
  /** @throws PluginError */
  send(part: StyledPart, call: SendCall): Promise<Receipt>
  /** Returns a sentence that names the sending account. @throws PluginError if it cannot send or does not answer */
  check(signal: AbortSignal): Promise<string>
}

export type DaemonOptions = VendorContext<SignalConfig>
