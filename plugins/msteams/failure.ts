/** Owns what goes wrong between Microsoft and us: which error an answer of Entra or of the Bot Connector is. */

import { PluginError, type PluginErrorOptions, readRetryAfter, type VendorAnswer } from '@reveille/kit'

/** What the operator of the bot can do, by the connector's own code. Source: Teams, "status code responses" of bots. */
const advice: Readonly<Record<string, string>> = {
  BotNotInConversationRoster: 'install the app in that team or chat, or for that person',
  ConversationBlockedByUser: 'that person has blocked the bot',
  BotDisabledByAdmin: 'an administrator has disabled the bot for the organisation',
  MessageWritesBlocked: 'that person has blocked or uninstalled the bot',
  ForbiddenOperationException: 'install the app for that person or in that team',
  ConversationNotFound: 'there is no such conversation, or the service URL is of another region',
}

export interface FailureContext {
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  /** Whether the call was the one that sends the message. */
  readonly delivers: boolean
}

/** An answer of the connector that is no success. */
export function failureOf(answer: VendorAnswer, { now, delivers }: FailureContext): PluginError {
  const { status, headers, json } = answer
  const code = connectorCodeOf(json)
  const said = `Teams answered with ${status}${code === undefined ? '' : ` (${code})`}`
  const help = advice[code ?? '']
  const sentence = help === undefined ? `${said}.` : `${said}: ${help}.`
  const error = (options: PluginErrorOptions) => new PluginError(sentence, options)

  if (status === 401) {
    return new PluginError(
      `${said}: the bot’s token is refused. Check \`appId\`, \`tenantId\` and that the bot is registered.`,
      {
        code: 'bad-credential',
        retryable: true,
        wholeChannel: true,
      },
    )
  }
  if (status === 429) {
    // Of one conversation's limit and the app's the connector says the same word; the first is met far sooner.
    const retryAfter = readRetryAfter(headers.get('retry-after'), now)
    return error({ code: 'rate-limited', retryable: true, retryAfter })
  }
  // "Precondition failed, please try again": another call was at work on the conversation, and this one did nothing.
  if (status === 412 || status === 503) return error({ code: 'unavailable', retryable: true })
  if (status >= 500) return error({ code: 'unavailable', retryable: true, maybeDelivered: delivers })
  if (status === 413) {
    return new PluginError(`${said}: the message is larger than Teams takes.`, {
      code: 'too-long',
      retryable: false,
    })
  }
  if (code === undefined) return elsewhere(said, 'the Bot Connector', 'baseUrl')
  // All that we ask besides is a chat with a person.
  if (status === 400 && !delivers) {
    return new PluginError(`${said}: there is no such person in the tenant.`, {
      code: 'bad-target',
      retryable: false,
    })
  }
  if (status === 403) return error({ code: 'forbidden', retryable: false })
  if (status === 404) return error({ code: 'bad-target', retryable: false })
  return error({ code: 'bad-request', retryable: false })
}

/** An answer of success that is none of the connector's. */
export function notTeams({ status }: VendorAnswer): PluginError {
  return elsewhere(`What answered with ${status}`, 'the Bot Connector', 'baseUrl')
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
  const { error: word, error_codes: numbers } = (json ?? {}) as { error?: unknown; error_codes?: unknown }
  const said = `Entra answered with ${status}`
  if (status === 429) {
    return new PluginError(`${said}: too many requests for tokens.`, {
      code: 'rate-limited',
      retryable: true,
      retryAfter: readRetryAfter(headers.get('retry-after'), now),
      wholeChannel: true,
    })
  }
  if (status >= 500)
    return new PluginError(`${said}.`, { code: 'unavailable', retryable: true, wholeChannel: true })
  if (typeof word !== 'string') return elsewhere(said, 'Microsoft Entra', 'authority')
  const number = Array.isArray(numbers) ? numbers.find((each) => Number.isSafeInteger(each)) : undefined
  const words = [
    /^[a-z_]{1,40}$/.test(word) ? word : [],
    number === undefined ? [] : `AADSTS${number}`,
  ].flat()
  const help = entraAdvice[String(number)] ?? 'check `appId`, `appPassword` and `tenantId`'
  return new PluginError(`${said}${words.length > 0 ? ` (${words.join(', ')})` : ''}: ${help}.`, {
    code: 'bad-credential',
    retryable: true,
    wholeChannel: true,
  })
}

function elsewhere(said: string, service: string, key: string): PluginError {
  return new PluginError(`${said} is not ${service}: check \`${key}\`.`, {
    code: 'unavailable',
    retryable: true,
    wholeChannel: true,
  })
}

/** Letters alone: what is quoted can hold nothing else. */
function connectorCodeOf(json: unknown): string | undefined {
  const { error } = (json ?? {}) as { error?: { code?: unknown } }
  const code = error?.code
  return typeof code === 'string' && /^[A-Za-z]{1,60}$/.test(code) ? code : undefined
}
