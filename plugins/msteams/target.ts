/** Owns the addresses of Teams: what `to` may say, and which of them mean one place. */

import { channelError, type Target } from '@reveille/kit'

/** Exactly one of both ids is there. */
export interface TeamsTarget extends Target {
  /** As the Bot Connector's paths want it, the thread of a channel included. */
  readonly conversationId?: string
  /** A person's object id in Microsoft Entra. */
  readonly userId?: string
}

/** A channel of a team (`tacv2`, of old `skype`), a group chat or meeting (`v2`), and chats of two. */
const shared = /^19:[^\s;@/?#%]+@(thread\.(?:tacv2|v2|skype)|unq\.gbl\.spaces)$/
const personal = /^a:[^\s;@/?#%]+$/
const thread = /^19:[^\s;@/?#%]+@thread\.(?:tacv2|skype);messageid=\d+$/
const user = /^user:([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i

/** @throws PluginError `bad-target` */
export function parseTarget(to: string): TeamsTarget {
  const text = to.trim()
  const userId = user.exec(text)?.[1]?.toLowerCase()
  if (userId !== undefined) return { key: `user:${userId}`, kind: 'user', userId }
  const conversationId = text.replace(/^conversation:/, '')
  const kind = kindOf(conversationId)
  if (kind !== undefined) return { key: `conversation:${conversationId}`, kind, conversationId }
  const forms =
    'it takes `conversation:<id>`, an id being `19:…@thread.tacv2` (also with `;messageid=…`), `19:…@thread.v2`, `19:…@unq.gbl.spaces` or `a:…`, and `user:<object id in Entra>`'
  throw channelError('bad-target', `This is no address of Teams: ${forms}.`)
}

function kindOf(conversationId: string): TeamsTarget['kind'] | undefined {
  if (thread.test(conversationId)) return 'thread'
  if (personal.test(conversationId)) return 'user'
  switch (shared.exec(conversationId)?.[1]) {
    case undefined:
      return undefined
    case 'unq.gbl.spaces':
      return 'user'
    case 'thread.v2':
      return 'group'
    default:
      return 'channel'
  }
}
