/** Parses the addresses of Teams: a conversation, a thread or a user. */

import { channelError, type Target } from '@reveille/kit'

/** Has exactly one of the two ids. */
export interface TeamsTarget extends Target {
  /** The id in the Bot Connector's paths, which includes the thread of a channel. */
  readonly conversationId?: string
  /** The object id of a user in Microsoft Entra. */
  readonly userId?: string
}

/** A channel of a team (`tacv2`, formerly `skype`), a group chat or meeting (`v2`), or a chat of two. */
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

/** The tenant in which multi-tenant bots are registered. */
const multiTenant = 'botframework.com'

/**
 * Parses an address for a bot of this tenant. A user is looked up in a tenant, which a multi-tenant bot does not have.
 * @throws PluginError `bad-target`
 */
export function parseTargetInTenant(tenantId: string, to: string): TeamsTarget {
  const target = parseTarget(to)
  if (target.userId === undefined || tenantId !== multiTenant) return target
  throw channelError(
    'bad-target',
    '`user:` needs `tenantId`, the id of the directory in which that person is.',
  )
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
