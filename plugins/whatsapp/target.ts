/** Owns what an address on WhatsApp looks like. */

import { channelError, type Target } from '@reveille/kit'

export interface WhatsAppTarget extends Target {
  readonly kind: 'user' | 'group'
  /** A number with its country and without a plus, or Meta's id of a group. */
  readonly id: string
}

/** E.164: fifteen digits at most, the country first. */
const number = /^\+?([1-9][0-9]{6,14})$/
const group = /^group:([^\s\p{C}]{1,256})$/u

/** @throws PluginError `bad-target` */
export function parseTarget(to: string): WhatsAppTarget {
  const [, person] = number.exec(to.trim()) ?? []
  if (person !== undefined) return { key: `user:${person}`, kind: 'user', id: person }
  const [, members] = group.exec(to.trim()) ?? []
  if (members !== undefined) return { key: `group:${members}`, kind: 'group', id: members }
  const forms = 'it takes a number with its country and without spaces, `+15551234567`, or `group:<id>`'
  throw channelError('bad-target', `This is no address of WhatsApp: ${forms}.`)
}
