/** Owns what follows from each code of a channel's errors, where the channel knows no better. */

import type { ChannelErrorCode } from './channel.ts'
import { PluginError, type PluginErrorOptions } from './plugin-error.ts'

type Facts = Partial<Omit<PluginErrorOptions, 'code'>>

/** What a later try, or a mended configuration, may give another end. What is not here is final. */
const usual: Readonly<Partial<Record<ChannelErrorCode, Facts>>> = {
  'bad-credential': { retryable: true, wholeChannel: true },
  'rate-limited': { retryable: true },
  unavailable: { retryable: true },
  network: { retryable: true },
  timeout: { retryable: true },
  aborted: { retryable: true },
}

/**
 * An error of a channel: `facts` are those that differ from what the code says by itself. Of a `bad-credential` that is
 * `retryable` for the `wholeChannel`; limits, and services that cannot be had, are `retryable`; all else is final.
 */
export function channelError(code: ChannelErrorCode, message: string, facts: Facts = {}): PluginError {
  return new PluginError(message, { retryable: false, ...usual[code], ...facts, code })
}
