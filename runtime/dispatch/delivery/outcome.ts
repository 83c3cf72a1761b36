/** Reads the outcome of a call to `send`: a receipt that the store can keep, or a failure that quotes no message. */

import { permanentError, type Receipt } from '@reveille/kit'
import type { CallOutcome } from '../../agent/bounded-call.ts'
import { type Failure, failureOf } from '../../agent/failure.ts'
import { cut } from '../../cut.ts'
import { outOfTime, ownFault } from '../failure-scope.ts'

export type SendOutcome = CallOutcome<Receipt>

/** Returns the receipt, also one that came while the call was being stopped: it proves that the part was sent. */
export function receiptOf(outcome: SendOutcome): Receipt | undefined {
  if (outcome.kind === 'threw') return undefined
  return keepable(outcome.kind === 'answered' ? outcome.answer : outcome.late)
}

/** Maximum length of a receipt in characters of JSON: enough to name all members of a large group that were not reached. */
const maxReceiptLength = 262_144
const maxIdLength = 1000

/** Keeps what of a receipt is data. If the store had to refuse a receipt, its part would be sent again. */
function keepable(receipt: Receipt | undefined): Receipt | undefined {
  try {
    const text = JSON.stringify(receipt)
    if (text === undefined) return undefined
    if (text.length <= maxReceiptLength) return JSON.parse(text)
  } catch {
    // The id alone proves that the part was sent.
  }
  return { id: cut(String(receipt?.id ?? ''), maxIdLength) }
}

/** Returns the failure. A channel that was stopped and does not say how far it came may have sent the part. */
export function failureToSend(outcome: SendOutcome, timeoutMs: number): Failure {
  if (outcome.kind === 'answered') {
    return failureOf(permanentError(ownFault, 'the channel answered without a receipt'), ownFault)
  }
  const failure = failureOf(outcome.error, ownFault, { place: true })
  if (outcome.kind === 'threw' || failure.code !== ownFault) return failure
  const message =
    outcome.kind === 'timed-out'
      ? `the channel did not answer within ${timeoutMs / 1000} s`
      : 'the gateway stopped while the part was being sent'
  const code = outcome.kind === 'timed-out' ? outOfTime : 'INTERRUPTED'
  return { code, message, reason: message, retryable: true, maybeDelivered: true, wholeService: false }
}

/** This many characters of the message in a row are a quotation of it. Fewer are common words. */
const minQuoteLength = 24

/** Replaces quotations of the sent text in a failure by ellipses: services quote what they refuse, and reasons are logged. */
export function withoutQuotes(failure: Failure, sentText: string): Failure {
  const message = hideQuotes(failure.message, sentText)
  return { ...failure, message, reason: failure.reason === failure.message ? message : failure.reason }
}

function hideQuotes(text: string, sentText: string): string {
  let shown = ''
  let at = 0
  while (at < text.length) {
    const length = quoteLength(text, at, sentText)
    shown += length > 0 ? '…' : (text[at] ?? '')
    at += Math.max(1, length)
  }
  return shown
}

/** Returns how many characters from `at` on are in the sent text too; 0 if they are too few to be a quotation. */
function quoteLength(text: string, at: number, sentText: string): number {
  if (at + minQuoteLength > text.length || !sentText.includes(text.slice(at, at + minQuoteLength))) return 0
  let length = minQuoteLength
  while (at + length < text.length && sentText.includes(text.slice(at, at + length + 1))) length += 1
  return length
}
