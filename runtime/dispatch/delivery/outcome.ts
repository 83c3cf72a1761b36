/** Owns what came of a call to `send`: a receipt that can be kept, or a failure. */

import type { Receipt } from '@reveille/kit'
import type { CallOutcome } from '../../agent/bounded-call.ts'
import { type Failure, failureOf } from '../../agent/failure.ts'
import { outOfTime, ownFault } from './trouble.ts'

export type SendOutcome = CallOutcome<Receipt>

/** A receipt that comes while the call is being stopped still proves that the part was sent. */
export function receiptOf(outcome: SendOutcome): Receipt | undefined {
  if (outcome.kind === 'threw') return undefined
  return keepable(outcome.kind === 'answered' ? outcome.answer : outcome.late)
}

/** What of a receipt is data. One that the store had to refuse would have its part sent again. */
function keepable(receipt: Receipt | undefined): Receipt | undefined {
  try {
    const text = JSON.stringify(receipt)
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return { id: String(receipt?.id ?? '') }
  }
}

/** A channel that was stopped and does not say how far it came may have sent the part. */
export function failureToSend(outcome: SendOutcome, timeoutMs: number): Failure {
  if (outcome.kind === 'answered') return failureOf('the channel answered without a receipt', ownFault)
  const failure = failureOf(outcome.error, ownFault)
  if (outcome.kind === 'threw' || failure.code !== ownFault) return failure
  const message =
    outcome.kind === 'timed-out'
      ? `the channel did not answer within ${timeoutMs / 1000} s`
      : 'the gateway stopped while the part was being sent'
  const code = outcome.kind === 'timed-out' ? outOfTime : 'INTERRUPTED'
  return { code, message, reason: message, retryable: true, maybeDelivered: true, wholeChannel: false }
}
