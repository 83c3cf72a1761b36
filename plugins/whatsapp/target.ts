/** Parses the addresses of WhatsApp: telephone numbers and groups. */

import { channelError, type Target } from '@reveille/kit'

export interface WhatsAppTarget extends Target {
  readonly kind: 'user' | 'group'
  /** A number with its country code and without a plus, or Meta's id of a group. */
  readonly id: string
}

/** A number as in E.164, with at most fifteen digits and the country code first, and the separators that people write. */
const number = /^\+?[1-9](?:[\s().-]{0,4}[0-9]){6,14}$/
const group = /^group:([^\s\p{C}]{1,256})$/u

/** Numbers may be written as people do: `whatsapp:+1 (555) 123-4567`. @throws PluginError `bad-target` */
export function parseTarget(to: string): WhatsAppTarget {
  const text = to.trim().replace(/^whatsapp:/i, '')
  if (number.test(text)) {
    const person = text.replace(/\D/g, '')
    return { key: `user:${person}`, kind: 'user', id: person }
  }
  const [, members] = group.exec(text) ?? []
  if (members !== undefined) return { key: `group:${members}`, kind: 'group', id: members }
  const forms = 'it takes a number with its country, `+15551234567`, or `group:<id>`'
  throw channelError('bad-target', `This is no address of WhatsApp: ${forms}.`)
}
