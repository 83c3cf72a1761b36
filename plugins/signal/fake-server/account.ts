/** The account behind both fakes: whom it can reach, the rules of `send`, and the messages that were sent. */

import type { FakeVendor, VendorMessage } from '@reveille/kit/fake-server'

interface Person {
  readonly number: string
  readonly uuid: string
  readonly username?: string
  /** The failure of messages to this person. Default: they arrive. */
  readonly type?: string
}

/** The number of the sending account. */
export const ownNumber = '+41790000001'

export const people = {
  ada: { number: '+41791234567', uuid: '6f0b3c1e-8a41-4a6e-9d52-0c1f5b7e2a90', username: 'ada.01' },
  gone: {
    number: '+41791111111',
    uuid: '11111111-2222-4333-8444-555555555555',
    type: 'UNREGISTERED_FAILURE',
  },
  outsider: {
    number: '+41792222222',
    uuid: '22222222-2222-4333-8444-555555555555',
    type: 'IDENTITY_FAILURE',
  },
  offline: { number: '+41793333333', uuid: '33333333-2222-4333-8444-555555555555', type: 'NETWORK_FAILURE' },
} as const satisfies Record<string, Person>

const { ada, gone, outsider, offline } = people

/** The groups, whose ids are 32 bytes in base64. */
export const groups = {
  crew: { id: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=', members: [ada] },
  half: { id: '+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s=', members: [ada, gone, offline] },
  lost: { id: 'ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=', members: [gone] },
} as const satisfies Record<string, { id: string; members: readonly Person[] }>

function personOf(address: unknown): Person | undefined {
  return [ada, gone, outsider, offline].find((person: Person) =>
    [person.number, person.uuid, person.username].includes(String(address)),
  )
}

function membersOf(id: unknown): readonly Person[] | undefined {
  return Object.values(groups).find((group) => group.id === id)?.members
}

interface RefusedCall {
  readonly code: number
  readonly message: string
  readonly data: object | null
}

function refuse(code: number, message: string, data: object | null = null): RefusedCall {
  return { code, message, data }
}

export function rpcError(code: number, message: string, id: string | null, data: object | null = null) {
  return { jsonrpc: '2.0', error: refuse(code, message, data), id }
}

/** Signal-cli's answers to what goes wrong: always a status of 200 and an error of JSON-RPC. */
export const refusals: FakeVendor['refusals'] = {
  badCredential: { body: rpcError(-6, 'Captcha rejected', '1') },
  forbidden: { body: rpcError(-4, 'Failed to send message due to untrusted identities', '1') },
  rateLimited: (retryAfterSeconds) => ({
    body: rpcError(-5, 'Failed to send message due to rate limiting', '1', {
      response: {
        timestamp: 0,
        results: [{ type: 'RATE_LIMIT_FAILURE', token: 'a-token', retryAfterSeconds }],
      },
    }),
  }),
  serverError: { body: rpcError(-32603, 'Cannot invoke "Object.toString()"', '1') },
}

/** The parameters in camel case; the real daemon also takes the names of the command line's options. */
const known = new Set(['account', 'recipient', 'groupId', 'username', 'message', 'textStyle', 'noteToSelf'])
/** Maximum size of a message, in bytes of UTF-8; a longer one is sent as a file beside its beginning. */
const maxTextLength = 2000

export function createAccount() {
  const messages: VendorMessage[] = []

  function send({ account, message, textStyle, ...params }: Readonly<Record<string, unknown>>) {
    const unknown = Object.keys(params).find((name) => !known.has(name))
    if (unknown !== undefined) return refuse(-32600, `Unrecognized field "${unknown}"`)
    if (account !== undefined && account !== ownNumber) {
      return refuse(-32602, 'Specified account does not exist')
    }
    if (typeof message !== 'string' || message === '') return refuse(-1, 'No message text given')
    const styles = listOf(textStyle).map(String)
    const wrong = styles.find((style) => !fits(style, message))
    if (wrong !== undefined) return refuse(-1, `Invalid syntax for textStyle (${wrong})`)

    const reached: Person[] = []
    const [groupId] = listOf(params['groupId'])
    if (groupId !== undefined) {
      const members = membersOf(groupId)
      if (members === undefined) return refuse(-1, `Group not found: "${groupId}"`)
      reached.push(...members)
    }
    for (const address of [...listOf(params['recipient']), ...listOf(params['username'])]) {
      reached.push(personOf(address) ?? { number: String(address), uuid: '', type: 'UNREGISTERED_FAILURE' })
    }
    if (reached.length === 0) return refuse(-1, 'No recipients given')

    const timestamp = 1_700_000_000_000 + messages.length
    const results = reached.map(({ type = 'SUCCESS', number, uuid }) => ({
      recipientAddress: { uuid: uuid || null, number, username: null },
      type,
    }))
    if (results.every(({ type }) => type !== 'SUCCESS')) return failure({ timestamp, results })
    const to = String(groupId ?? reached[0]?.number)
    const isAttachment = Buffer.byteLength(message) > maxTextLength
    messages.push({ to, text: message, styles, timestamp, isAttachment })
    return { result: { timestamp, results } }
  }

  return { messages, send }
}

/** Returns one error for a message that reached no one, by the failures of its recipients (`SendMessageResultUtils`). */
function failure(response: { timestamp: number; results: readonly { type: string }[] }): RefusedCall {
  const types = new Set(response.results.map(({ type }) => type))
  const data = { response }
  if (types.size === 1 && types.has('IDENTITY_FAILURE')) {
    return refuse(-4, 'Failed to send message due to untrusted identities', data)
  }
  if (types.has('NETWORK_FAILURE')) return refuse(-3, 'Failed to send message due to network failure', data)
  return refuse(-1, 'Failed to send message', data)
}

/** True if a style is `start:length:STYLE` and lies within the text. */
function fits(style: string, message: string): boolean {
  const [, start, length] = /^(\d+):(\d+):(BOLD|ITALIC|SPOILER|STRIKETHROUGH|MONOSPACE)$/.exec(style) ?? []
  return Number(length) > 0 && Number(start) + Number(length) <= message.length
}

function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}
