/** Owns the addresses of Mattermost: what `to` may say, and which of them mean one place. */

import { channelError, type Target } from '@reveille/kit'

/** Exactly one of `channelId`, `userId` and `username` is there; `rootId` only beside `channelId`. */
export interface MattermostTarget extends Target {
  readonly channelId?: string
  readonly userId?: string
  readonly username?: string
  /** The first post of a thread. */
  readonly rootId?: string
}

/** Ids are 26 characters of a base 32 of lower case, usernames are lower case (server: `model.IsValidId`, `model.IsValidUsername`). */
const thread = /^(?:channel:)?([a-z0-9]{26}):thread:([a-z0-9]{26})$/
const channel = /^(?:channel:)?([a-z0-9]{26})$/
const user = /^user:([a-z0-9]{26})$/
const name = /^@([a-z0-9._-]{1,64})$/i

/** A bare id is a channel's. @throws PluginError `bad-target` */
export function parseTarget(to: string): MattermostTarget {
  const text = to.trim()
  const [, threadChannel, rootId] = thread.exec(text) ?? []
  if (threadChannel !== undefined && rootId !== undefined) {
    return {
      key: `channel:${threadChannel}:thread:${rootId}`,
      kind: 'thread',
      channelId: threadChannel,
      rootId,
    }
  }
  const channelId = channel.exec(text)?.[1]
  if (channelId !== undefined) return { key: `channel:${channelId}`, kind: 'channel', channelId }
  const userId = user.exec(text)?.[1]
  if (userId !== undefined) return { key: `user:${userId}`, kind: 'user', userId }
  const username = name.exec(text)?.[1]?.toLowerCase()
  if (username !== undefined && !group.has(username)) return { key: `@${username}`, kind: 'user', username }
  const forms = 'it takes `channel:<id>`, `user:<id>`, `@username` or `<id>:thread:<post>`'
  throw channelError(
    'bad-target',
    `This is no address of Mattermost: ${forms}; ids have 26 lower-case letters and digits.`,
  )
}

/** Words that call many people and that no user may be called by. */
const group: ReadonlySet<string> = new Set(['all', 'channel', 'here'])
