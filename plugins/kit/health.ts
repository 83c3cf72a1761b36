/** Owns that a look at a service ends with a sentence, whether it went well or not. */

import type { ChannelHealth } from './channel.ts'
import { isPluginError } from './plugin-error.ts'
import { oneLine } from './quoting.ts'

/** Names that a service says may be of any length. Characters. */
const longestDetail = 300

/**
 * `look` answers as whom the vendor knows the credential, and throws a PluginError where something is wrong with it, or
 * with the service. What else it throws is thrown.
 */
export async function healthOf(look: () => Promise<string>): Promise<ChannelHealth> {
  try {
    return { ok: true, detail: oneLine(await look(), longestDetail) }
  } catch (error) {
    if (!isPluginError(error)) throw error
    return { ok: false, detail: error.message }
  }
}
