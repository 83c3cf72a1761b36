/** Owns the account that sends: `send` with its rules, and what was sent. */

import type { VendorMessage } from '@reveille/kit/fake-server'
import { membersOf, ownNumber, type Person, personOf } from './people.ts'
import { type RefusedCall, refuse } from './refusals.ts'

export interface Account {
  readonly messages: readonly VendorMessage[]
  send(
    params: Readonly<Record<string, unknown>>,
  ): { readonly result: { readonly timestamp: number } } | RefusedCall
}

/** Camel case alone; the daemon takes the names of the command line's options too. */
const known = new Set(['account', 'recipient', 'groupId', 'username', 'message', 'textStyle', 'noteToSelf'])
/** Bytes of UTF-8; what is longer goes as a text file beside the beginning of it. */
const longestText = 2000

export function createAccount(): Account {
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
    const isAttachment = Buffer.byteLength(message) > longestText
    messages.push({ to, text: message, styles, timestamp, isAttachment })
    return { result: { timestamp, results } }
  }

  return { messages, send }
}

/** Nobody was reached: one error for all, by what befell them (`SendMessageResultUtils`). */
function failure(response: { timestamp: number; results: readonly { type: string }[] }): RefusedCall {
  const types = new Set(response.results.map(({ type }) => type))
  const data = { response }
  if (types.size === 1 && types.has('IDENTITY_FAILURE')) {
    return refuse(-4, 'Failed to send message due to untrusted identities', data)
  }
  if (types.has('NETWORK_FAILURE')) return refuse(-3, 'Failed to send message due to network failure', data)
  return refuse(-1, 'Failed to send message', data)
}

/** `start:length:STYLE`, inside of the text. */
function fits(style: string, message: string): boolean {
  const [, start, length] = /^(\d+):(\d+):(BOLD|ITALIC|SPOILER|STRIKETHROUGH|MONOSPACE)$/.exec(style) ?? []
  return Number(length) > 0 && Number(start) + Number(length) <= message.length
}

function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}
