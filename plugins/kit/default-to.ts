/** Owns that `defaultTo` is an address, which no schema can say. */

import type { Target } from './channel.ts'
import { channelError } from './channel-error.ts'
import { isPluginError } from './plugin-error.ts'

/**
 * `parseTarget` is the channel's own.
 * @throws PluginError `bad-target` with what that says, and the name of the key
 */
export function checkDefaultTo(defaultTo: string | undefined, parseTarget: (to: string) => Target): void {
  if (defaultTo === undefined) return
  try {
    parseTarget(defaultTo)
  } catch (error) {
    if (!isPluginError(error)) throw error
    throw channelError('bad-target', `\`defaultTo\` is no address. ${error.message}`, { cause: error })
  }
}
