/** Turns a refusal of Microsoft Entra or of the Bot Connector into an error. */

import {
  type AnsweredCall,
  asRecord,
  channelError,
  foreignAnswer,
  hasDoneNothing,
  type PluginError,
  readRetryAfter,
  type VendorAnswer,
} from '@reveille/kit'

/** Advice for the operator, by the connector's own code. Source: Teams, "status code responses" of bots. */
const advice: Readonly<Record<string, string>> = {
  BotNotInConversationRoster: 'install the app in that team or chat, or for that person',
  ConversationBlockedByUser: 'that person has blocked the bot',
  BotDisabledByAdmin: 'an administrator has disabled the bot for the organisation',
  MessageWritesBlocked: 'that person has blocked or uninstalled the bot',
  ForbiddenOperationException: 'install the app for that person or in that team',
  ConversationNotFound: 'there is no such conversation, or the service URL is of another region',
}

const connector = "Teams' Bot Connector"

/** Returns the error for an answer of the connector that is not a success. */
export function errorFrom(answer: VendorAnswer, { now, isDelivery }: AnsweredCall): PluginError {
  const { status, headers, json } = answer
  const code = connectorCodeOf(json)
  const prefix = `Teams answered with ${status}${code === undefined ? '' : ` (${code})`}`
  const help = advice[code ?? '']
  const sentence = help === undefined ? `${prefix}.` : `${prefix}: ${help}.`

  if (status === 401) {
    const fix = 'check `appId`, `tenantId` and that the bot is registered'
    return channelError('bad-credential', `${prefix}: the bot’s token is refused; ${fix}.`)
  }
  const retryAfter = readRetryAfter(headers.get('retry-after'), now)
  // The connector has one code for the limits of a conversation and of the app; the former is reached far sooner.
  if (status === 429) return channelError('rate-limited', sentence, { retryAfter })
  // "Precondition failed, please try again" means that another call was using the conversation and this one did nothing.
  if (status === 412 || hasDoneNothing(status)) return channelError('unavailable', sentence, { retryAfter })
  if (status === 502 && code === undefined)
    return foreignAnswer(answer, { vendor: connector, isDelivery, now })
  if (status >= 500) return channelError('unavailable', sentence, { maybeDelivered: isDelivery, retryAfter })
  if (status === 413) return channelError('too-long', `${prefix}: the message is larger than Teams takes.`)
  if (code === undefined) return foreignAnswer(answer, { vendor: connector, isDelivery, now })
  // The only other call opens a chat with a user.
  if (status === 400 && !isDelivery) {
    return channelError('bad-target', `${prefix}: there is no such person in the tenant.`)
  }
  if (status === 403) return channelError('forbidden', sentence)
  if (status === 404) return channelError('bad-target', sentence)
  return channelError('bad-request', sentence)
}

/** Returns the error for a successful answer that is not the connector's, which answers in JSON. */
export function notTeams(answer: VendorAnswer, now: number): PluginError {
  return foreignAnswer(answer, { vendor: connector, isDelivery: false, now })
}

/** Advice for the operator, by Entra's numbers. Source: "Microsoft Entra authentication error codes". */
const entraAdvice: Readonly<Record<string, string>> = {
  '7000215': '`appPassword` is wrong: it is to be the value of a client secret, not its id',
  '7000222': 'the client secret has expired: create a new one',
  '700016': '`appId` is unknown in that tenant: a single-tenant bot needs its own `tenantId`',
  '90002': 'there is no such tenant: check `tenantId`',
}

/** Returns the error for an answer of the authority without a token. Nothing was sent, and every other call fails too. */
export function tokenErrorFrom({ status, headers, json }: VendorAnswer, now: number): PluginError {
  const { error: word, error_codes: numbers } = asRecord(json) ?? {}
  const prefix = `Entra answered with ${status}`
  if (status === 429) {
    const facts = { retryAfter: readRetryAfter(headers.get('retry-after'), now), wholeService: true }
    return channelError('rate-limited', `${prefix}: too many requests for tokens.`, facts)
  }
  if (status >= 500) {
    const facts = { retryAfter: readRetryAfter(headers.get('retry-after'), now), wholeService: true }
    return channelError('unavailable', `${prefix}.`, facts)
  }
  if (typeof word !== 'string') {
    const text = `What answers at \`authority\` is not Microsoft Entra (${status}): fix the address.`
    return channelError('unavailable', text, { wholeService: true })
  }
  const number = Array.isArray(numbers) ? numbers.find((each) => Number.isSafeInteger(each)) : undefined
  const words = [
    /^[a-z_]{1,40}$/.test(word) ? word : [],
    number === undefined ? [] : `AADSTS${number}`,
  ].flat()
  const help = entraAdvice[String(number)] ?? 'check `appId`, `appPassword` and `tenantId`'
  const quoted = words.length > 0 ? ` (${words.join(', ')})` : ''
  return channelError('bad-credential', `${prefix}${quoted}: ${help}.`)
}

/** Returns the connector's code if it consists of letters, so that a quote holds nothing else. */
function connectorCodeOf(json: unknown): string | undefined {
  const code = asRecord(asRecord(json)?.['error'])?.['code']
  return typeof code === 'string' && /^[A-Za-z]{1,60}$/.test(code) ? code : undefined
}
