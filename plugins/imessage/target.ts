/** Parses the addresses of iMessage: a chat by guid or identifier, a person by telephone number or e-mail address. */

import { channelError, type Target } from '@reveille/kit'

export interface IMessageTarget extends Target {
  /** The guids that the chat may have; the first one that exists is used. A single guid is not looked up. */
  readonly guids: readonly string[]
  /** With whom a chat is begun if there is none. Absent if the chat has to exist. */
  readonly newChat?: { readonly address: string; readonly service: Service }
}

export type Service = 'iMessage' | 'SMS'

const chatGuid = /^chat_guid:((?:iMessage|SMS|RCS|any);[-+];.+)$/
const chatIdentifier = /^chat_identifier:(.+)$/
const address = /^(?:(imessage|sms|auto):)?(\+[1-9][0-9]{6,14}|[^@\s;:]+@[^@\s;:]+)$/i

/** @throws PluginError `bad-target` */
export function parseTarget(to: string): IMessageTarget {
  const text = to.trim()
  const [, guid] = chatGuid.exec(text) ?? []
  if (guid !== undefined) {
    return { key: `chat_guid:${guid}`, kind: guid.includes(';+;') ? 'group' : 'user', guids: [guid] }
  }
  const [, identifier] = chatIdentifier.exec(text) ?? []
  if (identifier !== undefined) return ofIdentifier(identifier.trim())
  const [, way, person] = address.exec(text) ?? []
  const isMail = person?.includes('@') === true
  if (person !== undefined && !(isMail && way !== undefined && way.toLowerCase() !== 'imessage')) {
    return ofPerson(person.toLowerCase(), isMail ? 'imessage' : (way?.toLowerCase() ?? 'auto'))
  }
  throw channelError('bad-target', `This is no address of iMessage: ${fixFor(text)}.`)
}

/** The services of a chat by the prefix of its address. Since macOS 26 a chat may be of `any` service. */
const services: Readonly<Record<string, readonly string[]>> = {
  imessage: ['iMessage', 'any'],
  sms: ['SMS'],
  auto: ['iMessage', 'any', 'SMS'],
}

function ofPerson(person: string, way: string): IMessageTarget {
  return {
    key: `${way}:${person}`,
    kind: 'user',
    guids: (services[way] ?? []).map((service) => `${service};-;${person}`),
    newChat: { address: person, service: way === 'sms' ? 'SMS' : 'iMessage' },
  }
}

/** Returns the target for an identifier, which is `chat` and digits for a group and the address for a person. */
function ofIdentifier(identifier: string): IMessageTarget {
  const isGroup = /^chat\d/.test(identifier)
  return {
    key: `chat_identifier:${identifier}`,
    kind: isGroup ? 'group' : 'user',
    guids: ['iMessage', 'any', 'SMS', 'RCS'].map(
      (service) => `${service};${isGroup ? '+' : '-'};${identifier}`,
    ),
  }
}

function fixFor(text: string): string {
  if (/^chat_id:/.test(text)) {
    return '`chat_id:` is known to imsg alone, BlueBubbles wants `chat_guid:` or `chat_identifier:`'
  }
  if (/^(?:(?:imessage|sms|auto):)?[\d\s().-]+$/i.test(text)) {
    return 'a telephone number begins with + and the code of its country, and is written without spaces'
  }
  if (/^(?:sms|auto):.*@/i.test(text))
    return 'an e-mail address is reached by iMessage alone, without a prefix'
  return 'it takes `+41791234567`, `sms:+41791234567`, `ada@example.org`, `chat_guid:…` or `chat_identifier:…`'
}
