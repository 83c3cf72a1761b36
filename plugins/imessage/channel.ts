/** Owns sending: a part of a reply becomes one message in a chat, which is begun where there is none. */

import {
  type Channel,
  type Facts,
  healthOf,
  isPluginError,
  type Part,
  type Receipt,
  recordOf,
  timeOf,
} from '@reveille/kit'
import { createChats } from './chats.ts'
import { checkConfiguration } from './configuration.ts'
import { mostParts, partLimit, renderReply } from './render.ts'
import { createServer, type ServerOptions } from './server.ts'
import { type IMessageTarget, parseTarget } from './target.ts'

/**
 * BlueBubbles answers when Messages has confirmed the message, for which it gives it half a minute after a script that may
 * have to start Messages first. Milliseconds.
 */
const sendTimeoutMs = 60_000

/** @throws PluginError for a configuration that `checkConfiguration` refuses */
export function createIMessageChannel(options: ServerOptions): Channel {
  checkConfiguration(options.config)
  const { defaultTo } = options.config
  const server = createServer(options)
  const chats = createChats(server)

  async function send(part: Part, target: IMessageTarget, tempGuid: string, signal: AbortSignal) {
    // The way without Apple's private interfaces. It wants an id of ours, by which it refuses what it is still sending.
    const message = { message: part.text, method: 'apple-script', tempGuid }
    const chatGuid = await chats.find(target, signal)
    if (chatGuid !== undefined) {
      return server({ path: 'message/text', body: { chatGuid, ...message }, signal })
    }
    const { address, service } = target.newChat as NonNullable<IMessageTarget['newChat']>
    const chat = await server({
      path: 'chat/new',
      body: { addresses: [address], service, ...message },
      signal,
    })
    if (typeof chat?.['guid'] === 'string') chats.learn(target, chat['guid'])
    return firstMessageOf(chat)
  }

  return {
    id: 'imessage',
    limits: { part: partLimit, unit: 'utf16', parts: mostParts, sendTimeoutMs },
    defaultTo,
    target: parseTarget,
    render: renderReply,
    async send(part, { target, key, signal }) {
      const place = target as IMessageTarget
      try {
        return receiptOf(await send(part, place, `reveille-${key.replaceAll(':', '-')}`, signal), key)
      } catch (error) {
        if (isPluginError(error) && !error.retryable) chats.forget(place)
        throw error
      }
    },
    check: (signal) =>
      healthOf(async () => {
        await server({ path: 'ping', signal })
        return 'BlueBubbles answers and takes the password.'
      }),
  }
}

function firstMessageOf(chat: Facts | undefined): Facts | undefined {
  const messages = chat?.['messages']
  return Array.isArray(messages) ? recordOf(messages[0]) : undefined
}

function receiptOf(message: Facts | undefined, key: string): Receipt {
  const { guid, dateCreated } = message ?? {}
  return {
    id: typeof guid === 'string' && guid !== '' ? guid : key,
    ...timeOf(dateCreated),
  }
}
