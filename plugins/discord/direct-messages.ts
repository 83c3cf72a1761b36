/** Owns which channel a user is written to in. Discord opens it on request, and answers the same one each time. */

import { BoundedMap } from '@reveille/kit'

export interface DirectMessages {
  channelOf(user: string, signal: AbortSignal): Promise<string>
  /** Discord does not know the channel any more. */
  forget(user: string): void
}

/** More people than one gateway writes to; who was forgotten costs one more request. */
const mostKnown = 1000

export function createDirectMessages(
  open: (user: string, signal: AbortSignal) => Promise<string>,
): DirectMessages {
  const known = new BoundedMap<string, string>(mostKnown)
  return {
    async channelOf(user, signal) {
      const channel = known.get(user) ?? (await open(user, signal))
      known.set(user, channel)
      return channel
    },
    forget: (user) => void known.delete(user),
  }
}
