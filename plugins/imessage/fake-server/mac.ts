/** Owns the Mac: which chats there are, who can be reached, and what was sent. */

import type { FakeServerAnswer, VendorMessage } from '@reveille/kit/fake-server'
import { answer, refuse } from './responses.ts'

type Fields = Readonly<Record<string, unknown>>

/** Who can be reached, and how; all others are not known to Apple. */
export const existing = {
  /** With an iMessage chat. */
  person: '+15550100001',
  /** With a chat of green messages alone. */
  green: '+15550100002',
  /** Without any chat. */
  stranger: '+15550100003',
  mail: 'ada@example.org',
  group: 'chat100200300',
} as const

const reachable = new Set<string>([existing.person, existing.green, existing.stranger, existing.mail])

/** Apple's number for somebody who has no iMessage. */
const notRegistered = 22

export function createMac() {
  const messages: VendorMessage[] = []
  const chats = new Set([
    `iMessage;-;${existing.person}`,
    `SMS;-;${existing.green}`,
    `any;-;${existing.mail}`,
    `iMessage;+;${existing.group}`,
  ])
  /** Of what is being sent: BlueBubbles forgets them when it has answered. */
  const queued = new Set<string>()
  let confirmed: Promise<void> | undefined

  function store(guid: string, text: string, tempGuid: unknown): Fields {
    chats.add(guid)
    const id = `00000000-0000-4000-8000-${String(messages.length + 1).padStart(12, '0')}`
    messages.push({ to: guid, text, tempGuid })
    return {
      guid: id,
      text,
      error: 0,
      isFromMe: true,
      dateCreated: 1_700_000_000_000 + messages.length,
      tempGuid,
    }
  }

  /** A script that finds no chat falls back on the person, whom a chat need not be there for. */
  function takes(guid: string): boolean {
    const [, kind, address = ''] = guid.split(';')
    return chats.has(guid) || (kind === '-' && reachable.has(address))
  }

  async function sendText(fields: Fields): Promise<FakeServerAnswer> {
    const { chatGuid, message, tempGuid, method = 'apple-script' } = fields
    if (typeof chatGuid !== 'string' || chatGuid === '') return invalid('The chatGuid field is required.')
    if (typeof message !== 'string') return invalid('The message must be a string.')
    if (method !== 'apple-script') return invalid('iMessage Private API is not enabled!')
    if (!isText(tempGuid)) return invalid("A 'tempGuid' is required when sending via AppleScript")
    if (message === '') return invalid("A 'message' is required when sending via AppleScript")
    if (queued.has(tempGuid)) return invalid(`Message is already queued to be sent! (Temp GUID: ${tempGuid})`)
    if (!chatGuid.includes(';')) return failed(`Invalid GUID! Can't send message to: ${chatGuid}`)
    if (!takes(chatGuid))
      return chatGuid.includes(';-;') ? refusal() : failed(`Can't get chat id "${chatGuid}".`)
    queued.add(tempGuid)
    const data = store(chatGuid, message, tempGuid)
    await confirmed
    queued.delete(tempGuid)
    return answer('Message sent!', data)
  }

  async function newChat(fields: Fields): Promise<FakeServerAnswer> {
    const { addresses, message, service = 'iMessage', method = 'apple-script', tempGuid } = fields
    if (!Array.isArray(addresses) || addresses.length === 0)
      return invalid('The addresses field is required.')
    if (service !== 'iMessage' && service !== 'SMS') return invalid('The selected service is invalid.')
    if (method !== 'apple-script') return invalid('iMessage Private API is not enabled!')
    if (addresses.length > 1) return broken('Cannot create group chats on macOS Big Sur or newer!')
    if (!isText(message))
      return broken('A message is required when creating chats on macOS Big Sur or newer!')
    const guid = `${service};-;${addresses[0]}`
    if (!takes(guid)) return broken('Message send timeout')
    const sent = store(guid, message, tempGuid)
    await confirmed
    return answer('Successfully created chat!', { guid, messages: [sent] })
  }

  return {
    messages,
    sendText,
    newChat,
    refusal,
    findChat: (guid: string): FakeServerAnswer =>
      chats.has(guid) ? answer('Success', { guid }) : refuse(404, 'Database Error', 'Chat does not exist!'),
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      confirmed = promise
      return () => {
        confirmed = undefined
        resolve()
      }
    },
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Messages has taken it, and Apple has not. */
function refusal(): FakeServerAnswer {
  const text = 'Failed to send message! See attached message error code.'
  return refuse(500, 'iMessage Error', text, { error: notRegistered })
}

function invalid(text: string): FakeServerAnswer {
  return refuse(400, 'Validation Error', text)
}

function failed(text: string): FakeServerAnswer {
  return refuse(500, 'iMessage Error', text)
}

function broken(text: string): FakeServerAnswer {
  return refuse(500, 'Server Error', text)
}
