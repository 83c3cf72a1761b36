/** Owns what goes wrong between Microsoft and us: which error an answer of Entra or of the Bot Connector is. */

import {
  channelError,
  foreignAnswer,
  type PluginError,
  readRetryAfter,
  recordOf,
  type VendorAnswer,
} from '@reveille/kit'

/** What the operator of the bot can do, by the connector's own code. Source: Teams, "status code responses" of bots. */
const advice: Readonly<Record<string, string>> = {
  BotNotInConversationRoster: 'install the app in that team or chat, or for that person',
  ConversationBlockedByUser: 'that person has blocked the bot',
  BotDisabledByAdmin: 'an administrator has disabled the bot for the organisation',
  MessageWritesBlocked: 'that person has blocked or uninstalled the bot',
  ForbiddenOperationException: 'install the app for that person or in that team',
  ConversationNotFound: 'there is no such conversation, or the service URL is of another region',
}

export interface FailureOptions {
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  /** Whether the call was the one that sends the message. */
  readonly delivers: boolean
}

const connector = "Teams' Bot Connector"

/** An answer of the connector that is no success. */
export function failureOf(answer: VendorAnswer, { now, delivers }: FailureOptions): PluginError {
  const { status, headers, json } = answer
  const code = connectorCodeOf(json)
  const said = `Teams answered with ${status}${code === undefined ? '' : ` (${code})`}`
  const help = advice[code ?? '']
  const sentence = help === undefined ? `${said}.` : `${said}: ${help}.`

  if (status === 401) {
    const fix = 'check `appId`, `tenantId` and that the bot is registered'
    return channelError('bad-credential', `${said}: the bot’s token is refused; ${fix}.`)
  }
  if (status === 429) {
    // Of one conversation's limit and the app's the connector says the same word; the first is met far sooner.
    return channelError('rate-limited', sentence, {
      retryAfter: readRetryAfter(headers.get('retry-after'), now),
    })
  }
  // "Precondition failed, please try again": another call was at work on the conversation, and this one did nothing.
  if (status === 412 || status === 503) return channelError('unavailable', sentence)
  if (status === 502 && code === undefined) return foreignAnswer(answer, { vendor: connector, delivers, now })
  if (status >= 500) return channelError('unavailable', sentence, { maybeDelivered: delivers })
  if (status === 413) return channelError('too-long', `${said}: the message is larger than Teams takes.`)
  if (code === undefined) return foreignAnswer(answer, { vendor: connector, delivers, now })
  // All that we ask besides is a chat with a person.
  if (status === 400 && !delivers) {
    return channelError('bad-target', `${said}: there is no such person in the tenant.`)
  }
  if (status === 403) return channelError('forbidden', sentence)
  if (status === 404) return channelError('bad-target', sentence)
  return channelError('bad-request', sentence)
}

/** An answer of success that is none of the connector's, which answers in JSON. */
export function notTeams(answer: VendorAnswer, now: number): PluginError {
  return foreignAnswer(answer, { vendor: connector, delivers: false, now })
}

/** What Entra means by its numbers, where the operator can mend it. Source: "Microsoft Entra authentication error codes". */
const entraAdvice: Readonly<Record<string, string>> = {
  '7000215': '`appPassword` is wrong: it is to be the value of a client secret, not its id',
  '7000222': 'the client secret has expired: create a new one',
  '700016': '`appId` is unknown in that tenant: a single-tenant bot needs its own `tenantId`',
  '90002': 'there is no such tenant: check `tenantId`',
}

/** An answer of the authority that brings no token. Nothing was sent, and no other call would fare better. */
export function tokenFailureOf({ status, headers, json }: VendorAnswer, now: number): PluginError {
  const { error: word, error_codes: numbers } = recordOf(json) ?? {}
  const said = `Entra answered with ${status}`
  if (status === 429) {
    const facts = { retryAfter: readRetryAfter(headers.get('retry-after'), now), wholeChannel: true }
    return channelError('rate-limited', `${said}: too many requests for tokens.`, facts)
  }
  if (status >= 500) return channelError('unavailable', `${said}.`, { wholeChannel: true })
  if (typeof word !== 'string') {
    const text = `What answers at \`authority\` is not Microsoft Entra (${status}): mend the address.`
    return channelError('unavailable', text, { wholeChannel: true })
  }
  const number = Array.isArray(numbers) ? numbers.find((each) => Number.isSafeInteger(each)) : undefined
  const words = [
    /^[a-z_]{1,40}$/.test(word) ? word : [],
    number === undefined ? [] : `AADSTS${number}`,
  ].flat()
  const help = entraAdvice[String(number)] ?? 'check `appId`, `appPassword` and `tenantId`'
  const quoted = words.length > 0 ? ` (${words.join(', ')})` : ''
  return channelError('bad-credential', `${said}${quoted}: ${help}.`)
}

/** Letters alone: what is quoted can hold nothing else. */
function connectorCodeOf(json: unknown): string | undefined {
  const code = recordOf(recordOf(json)?.['error'])?.['code']
  return typeof code === 'string' && /^[A-Za-z]{1,60}$/.test(code) ? code : undefined
}
