/** Parses the addresses of Mattermost: a channel, a user or a thread. */

import { channelError, type Target } from '@reveille/kit'

/** Has exactly one of `channelId`, `userId` and `username`; `rootId` only beside `channelId`. */
export interface MattermostTarget extends Target {
  readonly channelId?: string
  readonly userId?: string
  readonly username?: string
  /** The first post of a thread. */
  readonly rootId?: string
}

/** Ids are 26 characters of lower-case base 32, and usernames are lower case (`model.IsValidId`, `model.IsValidUsername`). */
const thread = /^(?:channel:)?([a-z0-9]{26}):thread:([a-z0-9]{26})$/
const channel = /^(?:channel:)?([a-z0-9]{26})$/
const user = /^user:([a-z0-9]{26})$/
const name = /^@([a-z0-9._-]{1,64})$/i

/** An id without a prefix is that of a channel. @throws PluginError `bad-target` */
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

/** The mentions of many users, which no user can have as a name. */
const group: ReadonlySet<string> = new Set(['all', 'channel', 'here'])
