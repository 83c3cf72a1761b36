/** Turns a refusal of BlueBubbles into an error that says whether to retry and whether the message may have arrived. */

import {
  type AnsweredCall,
  asNumber,
  asRecord,
  channelError,
  compileRedaction,
  foreignAnswer,
  hasDoneNothing,
  oneLine,
  type PluginError,
  readRetryAfter,
  type VendorAnswer,
} from '@reveille/kit'

export interface ErrorOptions extends AnsweredCall {
  /** Strings that must not be quoted: the password and the text of the message. */
  readonly hidden: readonly string[]
}

/** Maximum length of BlueBubbles' own words in an error, in characters. */
const maxQuoteLength = 160

/**
 * Returns the error for an answer that is not a success. BlueBubbles' own errors have an `error.type`. Source:
 * `packages/server/src/server/api/http/api/v1/responses` of BlueBubblesApp/bluebubbles-server, 1.9.9.
 */
export function errorFrom(answer: VendorAnswer, { isDelivery, hidden, now }: ErrorOptions): PluginError {
  const { status, headers, json } = answer
  const { error, data } = asRecord(json) ?? {}
  const { type, message } = asRecord(error) ?? {}
  if (type === undefined) return foreignAnswer(answer, { vendor: 'BlueBubbles', isDelivery, now })

  const quote = typeof message === 'string' ? oneLine(compileRedaction(hidden)(message), maxQuoteLength) : ''
  const words = quote === '' ? '' : `: ${quote.replace(/[.!]$/, '')}`
  const unsure = (text: string) => channelError('unavailable', text, { maybeDelivered: isDelivery })

  if (status === 401 || status === 403) {
    const text = `BlueBubbles refuses the password (${status}): set the server password of BlueBubbles as \`password\`.`
    return channelError('bad-credential', text)
  }
  // BlueBubbles is still busy with an earlier attempt at the same part, whose outcome is unknown.
  if (status === 400 && /already queued/i.test(quote))
    return unsure('BlueBubbles is still sending an earlier attempt at this message (400).')
  if (status === 404) {
    const text = 'There is no such chat on the Mac (404): fix the address, or begin the chat in Messages.'
    return channelError('bad-target', text)
  }
  if (status === 500 && type === 'iMessage Error') {
    // BlueBubbles gives a message half a minute to show up in Messages; it may still show up later.
    if (/time(?:d )?out/i.test(quote)) return unsure(`Messages did not confirm the message in time${words}.`)
    const number = asNumber(asRecord(data)?.['error']) || undefined
    const which = number === undefined ? '' : ` (error ${number})`
    return channelError('bad-request', `Messages did not send it${which}${words}.`)
  }
  if (hasDoneNothing(status)) {
    const retryAfter = readRetryAfter(headers.get('retry-after'), now)
    return channelError('unavailable', `BlueBubbles cannot take it now (503)${words}.`, { retryAfter })
  }
  if (status >= 500) return unsure(`BlueBubbles failed (${status})${words}.`)
  return channelError('bad-request', `BlueBubbles refuses the message (${status})${words}.`)
}
