/** Parses the addresses of Telegram: a chat and, in a forum, a topic. */

import { channelError, type PluginError, type Target } from '@reveille/kit'

export interface TelegramTarget extends Target {
  readonly chatId: number | string
  /** The topic of a forum; absent for the General topic. */
  readonly topic?: number
}

/** The General topic of a forum. Messages to it name no topic, because the Bot API does not find its number. */
const generalTopic = 1

/**
 * Also reads the forms that OpenClaw writes: `telegram:123`, `telegram:group:-100…:topic:321` and `-100…:321`.
 * @throws PluginError `bad-target`
 */
export function parseTarget(to: string): TelegramTarget {
  const address = to.trim().replace(/^(?:telegram|tg):(?:group:)?/i, '')
  const name = /^@[A-Za-z][A-Za-z0-9_]{3,31}$/.exec(address)?.[0]
  if (name !== undefined) return { key: name.toLowerCase(), kind: 'channel', chatId: name }

  const [, id, number] = /^(-?[1-9][0-9]{0,15})(?::(?:topic:)?([1-9][0-9]{0,9}))?$/.exec(address) ?? []
  const chatId = Number(id)
  if (id === undefined || !Number.isSafeInteger(chatId)) throw badTarget()
  const topic = Number(number ?? generalTopic)
  if (topic !== generalTopic) return { key: `${id}:topic:${topic}`, kind: 'thread', chatId, topic }
  return { key: id, kind: chatId < 0 ? 'group' : 'user', chatId }
}

function badTarget(): PluginError {
  const forms =
    "it takes a chat's number, `123456789` or `-1001234567890`, `@channel`, or `<number>:topic:<n>`"
  return channelError('bad-target', `This is no address of Telegram: ${forms}.`)
}
