/** Owns finding the chat of an address: looked up once, then known. */

import { BoundedMap, channelError, type VendorAnswer } from '@reveille/kit'
import type { Server } from './server.ts'
import type { IMessageTarget } from './target.ts'

export interface Chats {
  /** The guid of the chat; undefined where one has to be begun. @throws PluginError `bad-target` where none may be */
  find(target: IMessageTarget, signal: AbortSignal): Promise<string | undefined>
  learn(target: IMessageTarget, guid: string): void
  /** It is looked up again before the next message. */
  forget(target: IMessageTarget): void
}

/** More people than one gateway writes to. */
const mostKnown = 1000

export function createChats(server: Server): Chats {
  const known = new BoundedMap<string, string>(mostKnown)
  const learn = ({ key }: IMessageTarget, guid: string) => void known.set(key, guid)

  return {
    async find(target, signal) {
      const { key, guids, newChat } = target
      const [only] = guids
      if (guids.length === 1 && newChat === undefined) return only
      const found = known.get(key) ?? (await firstOf(server, guids, signal))
      if (found !== undefined) learn(target, found)
      else if (newChat === undefined) {
        const text = 'There is no such chat on the Mac: mend the address, or begin the chat in Messages.'
        throw channelError('bad-target', text)
      }
      return found
    },
    learn,
    forget: ({ key }) => void known.delete(key),
  }
}

async function firstOf(
  server: Server,
  guids: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  // Without its JSON, a 404 comes from something before BlueBubbles, and says nothing about chats.
  const expects = ({ status, json }: VendorAnswer) => status === 404 && json !== undefined
  for (const guid of guids) {
    const chat = await server({ path: `chat/${encodeURIComponent(guid)}`, signal, expects })
    if (chat !== undefined) return typeof chat['guid'] === 'string' ? chat['guid'] : guid
  }
  return undefined
}
