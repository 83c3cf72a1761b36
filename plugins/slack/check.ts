/** Owns the look at the credential: as whom Slack knows it. */

import { type ChannelHealth, isPluginError, oneLine } from '@reveille/kit'
import type { WebApi } from './web-api.ts'

/** Of a name in our sentence. Characters. */
const longestName = 80

export async function checkHealth(api: WebApi, signal: AbortSignal): Promise<ChannelHealth> {
  try {
    const { user, team } = await api('auth.test', {}, signal)
    const [bot, workspace] = [user, team].map((name) => oneLine(String(name), longestName))
    return { ok: true, detail: `Slack knows the bot as ${bot} in the workspace ${workspace}.` }
  } catch (error) {
    if (signal.aborted || !isPluginError(error)) throw error
    return { ok: false, detail: error.message }
  }
}
