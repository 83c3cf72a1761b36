/** Parses the addresses of Slack: a conversation, a user, a channel's name or a thread. */

import { channelError, type Target } from '@reveille/kit'

export interface SlackTarget extends Target {
  /** The `channel` of `chat.postMessage`: an id or `#name`. Absent for a user, with whom a conversation is opened first. */
  readonly channel?: string
  readonly user?: string
  /** The `thread_ts` of the message that the reply answers. */
  readonly thread?: string
}

const conversation = /^(?:channel:)?([CGD][A-Z0-9]{6,})$/
const person = /^user:([UW][A-Z0-9]{6,})$/
/** A name holds no colon. With one it would mean a thread in a channel known by name, which Slack cannot look up. */
const name = /^#[^\s:]{1,80}$/
const thread = /^(?:channel:)?([CGD][A-Z0-9]{6,}):thread:([0-9]{10}\.[0-9]{6})$/

/** @throws PluginError `bad-target` */
export function parseTarget(to: string): SlackTarget {
  const text = to.trim()
  const [, channel] = conversation.exec(text) ?? []
  if (channel !== undefined)
    return { key: channel, kind: channel.startsWith('D') ? 'user' : 'channel', channel }
  const [, user] = person.exec(text) ?? []
  if (user !== undefined) return { key: `user:${user}`, kind: 'user', user }
  const [, parent, ts] = thread.exec(text) ?? []
  if (parent !== undefined && ts !== undefined) {
    return { key: `${parent}:thread:${ts}`, kind: 'thread', channel: parent, thread: ts }
  }
  if (name.test(text)) {
    // Slack's channel names are in lower case.
    const lower = text.toLowerCase()
    return { key: lower, kind: 'channel', channel: lower }
  }
  throw channelError('bad-target', `This is no address of Slack: ${fixFor(text)}.`)
}

function fixFor(text: string): string {
  if (text.startsWith('@')) {
    return 'Slack reaches a person by the id of their profile (⋮ > Copy member ID), as `user:U0123456789`, not by a name'
  }
  if (/^[UW][A-Z0-9]{6,}$/.test(text)) return `write \`user:${text}\` for a person`
  if (/^[\p{L}\p{N}_-]{1,80}$/u.test(text) && !/^[A-Z0-9]+$/.test(text)) {
    return `write \`#${text}\` for the channel of that name, or its id`
  }
  return 'it takes `C0123456789`, `#name`, `user:U0123456789` or `C0123456789:thread:1700000000.000100`'
}
