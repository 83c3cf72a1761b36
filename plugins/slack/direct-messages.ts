/** Owns the conversations with single persons: opened once, then known. */

import { BoundedMap, channelError, recordOf } from '@reveille/kit'
import type { WebApi } from './web-api.ts'

export interface DirectMessages {
  /** The id of the conversation. @throws PluginError */
  with(user: string, signal: AbortSignal): Promise<string>
  /** It is opened again before the next message. */
  forget(user: string): void
}

/** More people than one gateway writes to. */
const mostKnown = 1000

export function createDirectMessages(api: WebApi): DirectMessages {
  const known = new BoundedMap<string, string>(mostKnown)
  return {
    async with(user, signal) {
      const channel = known.get(user) ?? (await open(api, user, signal))
      known.set(user, channel)
      return channel
    },
    forget: (user) => void known.delete(user),
  }
}

/** Opening one that is open answers that one. */
async function open(api: WebApi, user: string, signal: AbortSignal): Promise<string> {
  const { channel } = await api('conversations.open', { users: user }, signal)
  const id = recordOf(channel)?.['id']
  if (typeof id === 'string') return id
  throw channelError('unavailable', 'Slack opened a direct message and did not say which.')
}
