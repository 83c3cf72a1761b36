/** Owns the conversations with single persons: opened once, then known. */

import { PluginError } from '@reveille/kit'
import type { WebApi } from './web-api.ts'

export interface DirectMessages {
  /** The id of the conversation. @throws PluginError */
  with(user: string, signal: AbortSignal): Promise<string>
  /** It is opened again before the next message. */
  forget(user: string): void
}

/** More people than one gateway writes to; the first to be known are the first to be forgotten. */
const remembered = 1000

export function createDirectMessages(api: WebApi): DirectMessages {
  const known = new Map<string, string>()
  return {
    async with(user, signal) {
      const channel = known.get(user) ?? (await open(api, user, signal))
      known.set(user, channel)
      for (const first of known.keys()) {
        if (known.size <= remembered) break
        known.delete(first)
      }
      return channel
    },
    forget: (user) => void known.delete(user),
  }
}

/** Opening one that is open answers that one. */
async function open(api: WebApi, user: string, signal: AbortSignal): Promise<string> {
  const { channel } = await api('conversations.open', { users: user }, signal)
  const { id } = (channel ?? {}) as { id?: unknown }
  if (typeof id === 'string') return id
  throw new PluginError('Slack opened a direct message and did not say which.', {
    code: 'unavailable',
    retryable: true,
  })
}
