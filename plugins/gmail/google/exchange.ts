/** Calls Google, and bounds the time and the size of the answer. */

import { callVendor, isPluginError, PluginError, type VendorAnswer, type VendorCall } from '@reveille/kit'

export interface Exchange extends Pick<VendorCall, 'url' | 'headers' | 'body' | 'signal'> {
  readonly fetch: typeof globalThis.fetch
  /** The time for the call, in seconds. Default: 30. */
  readonly seconds?: number
  /** Maximum size of the answer, in bytes, after decompression. Default: 10 MiB. */
  readonly maxBytes?: number
}

/** The answer is longer than it may be. */
export class TooLongAnswer extends PluginError {}

/** @throws PluginError as `callVendor` does; TooLongAnswer; the reason of the signal */
export async function exchange(options: Exchange): Promise<VendorAnswer> {
  const { fetch, signal, seconds = 30, maxBytes = 10 * 1_048_576, ...call } = options
  const limited = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)])
  try {
    return await callVendor(fetch, { ...call, maxBytes, signal: limited, isDelivery: false })
  } catch (error) {
    signal.throwIfAborted()
    // It has this code for nothing else.
    if (!isPluginError(error) || error.code !== 'unavailable') throw error
    throw new TooLongAnswer(error.message, { code: 'malformed', retryable: true })
  }
}
