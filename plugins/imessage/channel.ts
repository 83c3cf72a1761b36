/** Sends replies through Messages: each part becomes one message in a chat, which is begun if there is none. */

import {
  asList,
  asRecord,
  BoundedMap,
  type Channel,
  callVendor,
  channelError,
  checkDefaultTo,
  type Facts,
  healthOf,
  isPluginError,
  joinUrl,
  type Part,
  type Receipt,
  timeOf,
  type VendorAnswer,
  type VendorContext,
} from '@reveille/kit'
import { errorFrom } from './errors.ts'
import { limits, renderReply } from './render.ts'
import { type IMessageTarget, parseTarget } from './target.ts'

/** A configuration that `config.schema.json` has accepted. */
export interface IMessageConfig {
  readonly baseUrl: string
  readonly password: string
  readonly defaultTo?: string
}

interface ServerCall {
  /** The path below `/api/v1/`, with its parts encoded. */
  readonly path: string
  /** The body of a call that sends; absent for a call that only asks. */
  readonly body?: { readonly message: string; readonly [field: string]: unknown }
  readonly signal: AbortSignal
  /** True if the caller handles this refusal itself; the call then returns undefined. */
  readonly expects?: (answer: VendorAnswer) => boolean
}

/**
 * Time limit of a send, in milliseconds. BlueBubbles answers once Messages has confirmed the message, for which it waits half a minute
 * after a script that may first have to start Messages.
 */
const sendTimeoutMs = 60_000

/** Maximum number of cached chats; more than one gateway writes to. */
const maxChats = 1000

/** @throws PluginError `bad-target` if `defaultTo` is not an address of this channel */
export function createIMessageChannel({ config, fetch, now }: VendorContext<IMessageConfig>): Channel {
  const { baseUrl, defaultTo } = config
  checkDefaultTo(defaultTo, parseTarget)
  const password = encodeURIComponent(config.password.toWellFormed())
  /** The guid of each chat, by the key of the target. */
  const chats = new BoundedMap<string, string>(maxChats)

  /** Returns the `data` of a good answer. The password is in the URL, which is therefore never shown. @throws PluginError */
  async function callServer({ path, body, signal, expects }: ServerCall): Promise<Facts | undefined> {
    const url = joinUrl(baseUrl, `/api/v1/${path}?password=${password}`)
    const answer = await callVendor(fetch, { url, body, signal })
    const fields = asRecord(answer.json)
    if (answer.status === 200 && fields?.['status'] === 200) return asRecord(fields['data']) ?? {}
    if (expects?.(answer)) return undefined
    const hidden = [config.password, body?.message ?? '']
    throw errorFrom(answer, { isDelivery: body !== undefined, hidden, now: now() })
  }

  /** Returns the guid of the chat, or undefined if one has to be begun. @throws PluginError `bad-target` if none may be begun */
  async function findChat(target: IMessageTarget, signal: AbortSignal): Promise<string | undefined> {
    const { key, guids, newChat } = target
    if (guids.length === 1 && newChat === undefined) return guids[0]
    const found = chats.get(key) ?? (await firstChatOf(guids, signal))
    if (found !== undefined) chats.set(key, found)
    else if (newChat === undefined) {
      const text = 'There is no such chat on the Mac: fix the address, or begin the chat in Messages.'
      throw channelError('bad-target', text)
    }
    return found
  }

  async function firstChatOf(guids: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    // A 404 without JSON comes from something before BlueBubbles and says nothing about chats.
    const expects = ({ status, json }: VendorAnswer) => status === 404 && json !== undefined
    for (const guid of guids) {
      const chat = await callServer({ path: `chat/${encodeURIComponent(guid)}`, signal, expects })
      if (chat !== undefined) return typeof chat['guid'] === 'string' ? chat['guid'] : guid
    }
    return undefined
  }

  async function send(part: Part, target: IMessageTarget, tempGuid: string, signal: AbortSignal) {
    // Sending by AppleScript needs none of Apple's private interfaces. BlueBubbles wants an id of the message for it, by which
    // it refuses a message that it is still sending.
    const message = { message: part.text, method: 'apple-script', tempGuid }
    const chatGuid = await findChat(target, signal)
    if (chatGuid !== undefined) {
      return callServer({ path: 'message/text', body: { chatGuid, ...message }, signal })
    }
    const { address, service } = target.newChat as NonNullable<IMessageTarget['newChat']>
    const body = { addresses: [address], service, ...message }
    const chat = await callServer({ path: 'chat/new', body, signal })
    if (typeof chat?.['guid'] === 'string') chats.set(target.key, chat['guid'])
    return asRecord(asList(chat?.['messages'])[0])
  }

  return {
    id: 'imessage',
    limits: { ...limits, sendTimeoutMs },
    defaultTo,
    target: parseTarget,
    render: renderReply,
    async send(part, { target, key, signal }) {
      try {
        const tempGuid = `reveille-${key.replaceAll(':', '-')}`
        return receiptOf(await send(part, target as IMessageTarget, tempGuid, signal), key)
      } catch (error) {
        if (isPluginError(error) && !error.retryable) chats.delete(target.key)
        throw error
      }
    },
    check: (signal) =>
      healthOf(async () => {
        await callServer({ path: 'ping', signal })
        return 'BlueBubbles answers and takes the password.'
      }),
  }
}

function receiptOf(message: Facts | undefined, key: string): Receipt {
  const { guid, dateCreated } = message ?? {}
  return {
    id: typeof guid === 'string' && guid !== '' ? guid : key,
    ...timeOf(dateCreated),
  }
}
