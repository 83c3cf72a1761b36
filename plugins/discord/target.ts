/** Owns what an address on Discord looks like. A thread is a channel to Discord, and so it is here. */

import { PluginError, type Target } from '@reveille/kit'

export interface DiscordTarget extends Target {
  readonly kind: 'channel' | 'user'
  /** Discord's id (a "snowflake") of the channel or the user. */
  readonly id: string
}

const address = /^(?:(channel|user):)?([1-9][0-9]{0,19})$/

/** @throws PluginError `bad-target`; `key` names the setting that holds the address, where one does. */
export function parseTarget(to: string, key?: string): DiscordTarget {
  const [, kind = 'channel', id] = address.exec(to.trim()) ?? []
  if (id !== undefined && (kind === 'channel' || kind === 'user')) return { key: `${kind}:${id}`, kind, id }
  const what = key === undefined ? 'An address' : `\`${key}\``
  const fix = 'copy the id in Discord, with developer mode on in its settings'
  throw new PluginError(`${what} on Discord is channel:<id>, user:<id> or a channel's id; ${fix}.`, {
    code: 'bad-target',
    retryable: false,
  })
}
