/** Owns how one delivery is shown whole: what became of it first, what it says last. */

import type { DeliveryRecord } from '../../store/records.ts'
import type { Facts } from '../facts.ts'
import type { Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { shortId } from '../table.ts'

/** What a channel may have written of a part that it sent; none of it can be relied on. */
interface KeptReceipt {
  readonly id?: unknown
  readonly at?: unknown
  readonly partial?: readonly { readonly target?: unknown; readonly reason?: unknown }[]
}

/** `waits`: what holds its channel back, where something does. */
export function factsOfDelivery(delivery: DeliveryRecord, io: Io, waits?: string): Facts {
  const { id, state, channel, to, code, reason, attempts, nextAt, receipts, text, ...rest } = delivery
  return {
    id,
    state,
    next: state === 'parked' ? `${pasted(`replay ${shortId(id)}`, io)} sends it again` : undefined,
    waits,
    channel,
    to,
    code,
    reason,
    attempts,
    nextAt,
    parts: receipts.length > 0 ? ['sent', ...partLines(receipts)] : undefined,
    ...rest,
    text,
  }
}

/** `1  m4711  2026-01-31T12:00:00Z`, and below it whom it did not reach. */
export function partLines(receipts: readonly unknown[]): string[] {
  return receipts.flatMap((receipt, index) => {
    const { id, at, partial } = (receipt ?? {}) as KeptReceipt
    const line = [index + 1, id, at].filter((each) => each !== undefined).join('  ')
    return [line, ...missed(partial).map((each) => `   not to ${each}`)]
  })
}

/** Recipients of a group that its message did not reach. */
export function missed(partial: KeptReceipt['partial']): string[] {
  return Array.isArray(partial) ? partial.map(({ target, reason }) => `${target}: ${reason}`) : []
}
