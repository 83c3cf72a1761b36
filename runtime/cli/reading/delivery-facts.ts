/** Shows one whole delivery: what became of it first, its text last. */

import type { DeliveryRecord } from '../../store/records.ts'
import type { Facts } from '../facts.ts'
import type { Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { shortId } from '../table.ts'

/** What a channel may have written about a part that it sent; no field is certain. */
interface KeptReceipt {
  readonly id?: unknown
  readonly at?: unknown
  readonly partial?: readonly { readonly target?: unknown; readonly reason?: unknown }[]
}

/** `waits`: why its channel is held, where it is. */
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

/** `1  m4711  2026-01-31T12:00:00Z`, and below it the recipients that it did not reach. */
function partLines(receipts: readonly unknown[]): string[] {
  return receipts.flatMap((receipt, index) => {
    const { id, at, partial } = (receipt ?? {}) as KeptReceipt
    const line = [index + 1, id, at].filter((each) => each !== undefined).join('  ')
    return [line, ...missed(partial).map((each) => `   not to ${each}`)]
  })
}

/** The recipients of a group that its message did not reach. */
export function missed(partial: KeptReceipt['partial']): string[] {
  return Array.isArray(partial) ? partial.map(({ target, reason }) => `${target}: ${reason}`) : []
}
