/** A fake of a BlueBubbles server and the Mac behind it, with chats, people and the messages that were sent to them. */

import type { Part } from '@reveille/kit'
import {
  type FakeServerAnswer,
  type FakeServerRequest,
  openFakeServer,
  type VendorMessage,
  withRetryAfter,
} from '@reveille/kit/fake-server'

const password = 'made-up & password/7'

/** Returns what a person reads of a part. Messages knows no markup. */
export function visibleText(part: Part): string {
  return part.text
}

export async function openVendor() {
  const mac = createMac()

  function respond(request: FakeServerRequest): FakeServerAnswer | Promise<FakeServerAnswer> {
    const { method, path, query, json } = request
    const given = query.get('password') ?? query.get('guid') ?? query.get('token')
    if (given !== password) return refuse(401, 'Authentication Error', 'Unauthorized')
    const fields = bodyOf(request) ? (json as Record<string, unknown>) : {}
    if (method === 'GET' && path === '/api/v1/ping') return answer('Ping received!', 'pong')
    if (method === 'POST' && path === '/api/v1/message/text') return mac.sendText(fields)
    if (method === 'POST' && path === '/api/v1/chat/new') return mac.newChat(fields)
    const [, guid] = /^\/api\/v1\/chat\/([^/]+)$/.exec(path) ?? []
    if (method === 'GET' && guid !== undefined) return mac.findChat(guid)
    return { status: 404, body: 'Not Found' }
  }

  const fakeServer = await openFakeServer({
    answer: respond,
    isSend: ({ method, path }) => method === 'POST' && /\/(?:message\/text|chat\/new)$/.test(path),
  })

  return {
    ...fakeServer,
    /** Lets Messages confirm nothing and BlueBubbles not answer until the returned function is called. */
    hold: mac.hold,
    messages: mac.messages,
    config: { baseUrl: fakeServer.url, password },
    secrets: [password],
    to: existing.person,
    unknownTo: 'chat_identifier:chat404404404',
    refusals: {
      badCredential: refuse(401, 'Authentication Error', 'Unauthorized'),
      forbidden: mac.refusal(),
      // BlueBubbles itself has no rate limit, but a tunnel before it may have one.
      rateLimited(seconds: number) {
        const headers = { 'content-type': 'text/html' }
        return withRetryAfter({ status: 429, headers, body: '<html>Too Many Requests</html>' }, seconds)
      },
      serverError: refuse(500, 'Server Error', 'database is locked'),
    },
  }
}

function bodyOf({ headers, json }: FakeServerRequest): boolean {
  const isJson = /^application\/json\b/.test(headers['content-type'] ?? '')
  return isJson && typeof json === 'object' && json !== null && !Array.isArray(json)
}

type Fields = Readonly<Record<string, unknown>>

/** The people and the group that can be reached. Apple knows no others. */
export const existing = {
  /** A person with an iMessage chat. */
  person: '+15550100001',
  /** A person with only a chat of green messages (SMS). */
  green: '+15550100002',
  /** A person without a chat. */
  outsider: '+15550100003',
  mail: 'ada@example.org',
  group: 'chat100200300',
} as const

const reachable = new Set<string>([existing.person, existing.green, existing.outsider, existing.mail])

/** Apple's error number for a person who has no iMessage. */
const notRegistered = 22

function createMac() {
  const messages: VendorMessage[] = []
  const chats = new Set([
    ...[`iMessage;-;${existing.person}`, `SMS;-;${existing.green}`],
    ...[`any;-;${existing.mail}`, `iMessage;+;${existing.group}`],
  ])
  /** The ids of messages that are being sent, which BlueBubbles forgets once it has answered. */
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

  /** True if a message to this guid is accepted. Without a chat, AppleScript falls back to the person. */
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

/** The answer to a message that Messages has accepted and Apple has not. */
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

type ErrorType =
  | 'Authentication Error'
  | 'Validation Error'
  | 'Database Error'
  | 'iMessage Error'
  | 'Server Error'

const messages: Readonly<Record<ErrorType, string>> = {
  'Authentication Error': 'You are not authorized to access this resource',
  'Validation Error': "You've made a bad request! Please check your request params & body",
  'Database Error': 'The requested resource was not found',
  'iMessage Error': 'Message Send Error',
  'Server Error': 'An unhandled error has occurred!',
}

function answer(message: string, data: unknown): FakeServerAnswer {
  return { status: 200, body: { status: 200, message, data } }
}

function refuse(status: number, type: ErrorType, message: string, data?: object): FakeServerAnswer {
  const error = { type, message }
  return { status, body: { status, message: messages[type], error, ...(data !== undefined && { data }) } }
}
