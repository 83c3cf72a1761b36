/** Owns which channel a user is written to in. Discord opens it on request, and answers the same one each time. */

export interface DirectMessages {
  channelOf(user: string, signal: AbortSignal): Promise<string>
  /** Discord does not know the channel any more. */
  forget(user: string): void
}

/** Ids of 20 digits at most; a user who was forgotten costs one more request. */
const mostUsers = 1000

export function createDirectMessages(
  open: (user: string, signal: AbortSignal) => Promise<string>,
): DirectMessages {
  const channels = new Map<string, string>()
  return {
    async channelOf(user, signal) {
      const known = channels.get(user)
      if (known !== undefined) return known
      const channel = await open(user, signal)
      const [first] = channels.keys()
      if (first !== undefined && channels.size >= mostUsers) channels.delete(first)
      channels.set(user, channel)
      return channel
    },
    forget: (user) => void channels.delete(user),
  }
}
