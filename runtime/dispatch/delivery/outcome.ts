/** Owns what came of a call to `send`: a receipt that can be kept, or a failure. */

import { PluginError, type Receipt } from '@reveille/kit'
import type { CallOutcome } from '../../agent/bounded-call.ts'
import { type Failure, failureOf } from '../../agent/failure.ts'
import { cut } from '../../cut.ts'
import { outOfTime, ownFault } from './trouble.ts'

export type SendOutcome = CallOutcome<Receipt>

/** A receipt that comes while the call is being stopped still proves that the part was sent. */
export function receiptOf(outcome: SendOutcome): Receipt | undefined {
  if (outcome.kind === 'threw') return undefined
  return keepable(outcome.kind === 'answered' ? outcome.answer : outcome.late)
}

/** Of one receipt as JSON; more than the members of any group that were not reached. Characters. */
const longestReceipt = 262_144
const longestId = 1000

/** What of a receipt is data. One that the store had to refuse would have its part sent again. */
function keepable(receipt: Receipt | undefined): Receipt | undefined {
  try {
    const text = JSON.stringify(receipt)
    if (text === undefined) return undefined
    if (text.length <= longestReceipt) return JSON.parse(text)
  } catch {
    // The id alone is proof enough.
  }
  return { id: cut(String(receipt?.id ?? ''), longestId) }
}

/** A channel that was stopped and does not say how far it came may have sent the part. */
export function failureToSend(outcome: SendOutcome, timeoutMs: number): Failure {
  if (outcome.kind === 'answered') {
    const message = 'the channel answered without a receipt'
    return failureOf(new PluginError(message, { code: ownFault, retryable: false }), ownFault)
  }
  const failure = failureOf(outcome.error, ownFault, { place: true })
  if (outcome.kind === 'threw' || failure.code !== ownFault) return failure
  const message =
    outcome.kind === 'timed-out'
      ? `the channel did not answer within ${timeoutMs / 1000} s`
      : 'the gateway stopped while the part was being sent'
  const code = outcome.kind === 'timed-out' ? outOfTime : 'INTERRUPTED'
  return { code, message, reason: message, retryable: true, maybeDelivered: true, wholeChannel: false }
}
