/** Owns sending: a part of a reply becomes one message in a chat, which is begun where there is none. */

import { type Channel, type ChannelHealth, isPluginError, type Part, type Receipt } from '@reveille/kit'
import { createChats } from './chats.ts'
import { partLimit, renderReply } from './render.ts'
import { createServer, type Server, type ServerOptions } from './server.ts'
import { type IMessageTarget, targetOf } from './target.ts'

/**
 * BlueBubbles answers when Messages has confirmed the message, for which it gives it half a minute after a script that may
 * have to start Messages first. Milliseconds.
 */
const sendTimeoutMs = 60_000

/** Messages that one reply may become; what is longer is read elsewhere. */
const parts = 10

export function createIMessageChannel(options: ServerOptions): Channel {
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
    limits: { part: partLimit, unit: 'utf16', parts, sendTimeoutMs },
    ...(defaultTo !== undefined && { defaultTo }),
    target: (to) => targetOf(to),
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
    check: (signal) => checkHealth(server, signal),
  }
}

function firstMessageOf(
  chat: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> {
  const { messages } = chat ?? {}
  const [first] = Array.isArray(messages) ? messages : []
  return typeof first === 'object' && first !== null ? first : {}
}

function receiptOf(message: Readonly<Record<string, unknown>> | undefined, key: string): Receipt {
  const { guid, dateCreated } = message ?? {}
  const at = typeof dateCreated === 'number' ? new Date(dateCreated) : undefined
  return {
    id: typeof guid === 'string' && guid !== '' ? guid : key,
    ...(at !== undefined && !Number.isNaN(at.getTime()) && { at: at.toISOString() }),
  }
}

async function checkHealth(server: Server, signal: AbortSignal): Promise<ChannelHealth> {
  try {
    await server({ path: 'ping', signal })
    return { ok: true, detail: 'BlueBubbles answers and takes the password.' }
  } catch (error) {
    if (signal.aborted || !isPluginError(error)) throw error
    return { ok: false, detail: error.message }
  }
}
