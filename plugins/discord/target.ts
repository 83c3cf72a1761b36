/** Parses the addresses of Discord, where a thread is a channel. */

import { channelError, type Target } from '@reveille/kit'

export interface DiscordTarget extends Target {
  readonly kind: 'channel' | 'user'
  /** Discord's id ("snowflake") of the channel or the user. */
  readonly id: string
}

const address = /^(?:(channel|user):)?([1-9][0-9]{0,19})$/

/** @throws PluginError `bad-target` */
export function parseTarget(to: string): DiscordTarget {
  const [, kind = 'channel', id] = address.exec(to.trim()) ?? []
  if (id !== undefined && (kind === 'channel' || kind === 'user')) return { key: `${kind}:${id}`, kind, id }
  const forms =
    "it takes `channel:<id>`, `user:<id>` or a channel's id, which Discord copies in developer mode"
  throw channelError('bad-target', `This is no address of Discord: ${forms}.`)
}
