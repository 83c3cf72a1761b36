/** Owns what a reply becomes on its channel: its messages, and of a very long one where the rest can be read. */

import type { Channel, Part, Target } from '@reveille/kit'
import type { DeliveryRecord } from '../../store/port.ts'

export interface DeliveryPlan {
  readonly target: Target
  readonly parts: readonly Part[]
}

/**
 * `maxMessages` holds where the channel has a bound at all. A part that has a receipt stays the part that it was, also
 * where the bound is another one than at the try before.
 * @throws whatever the channel does
 */
export function planParts(channel: Channel, delivery: DeliveryRecord, maxMessages: number): DeliveryPlan {
  const parts: readonly Part[] = channel.render(delivery.text)
  if (!Array.isArray(parts)) throw new TypeError('the channel rendered the reply as no list of parts')
  const target = channel.target(delivery.to ?? '')
  const kept = Math.max(maxMessages - 1, delivery.receipts.length)
  if (channel.limits.parts === undefined || parts.length <= Math.max(maxMessages, kept))
    return { target, parts }
  const note = channel.render(noteOn(delivery, parts.length - kept)).slice(0, 1)
  return { target, parts: [...parts.slice(0, kept), ...note] }
}

/** The ends of ids are what the lists of the command line show and take. */
function noteOn({ id, runId }: DeliveryRecord, left: number): string {
  const rest = left === 1 ? '1 more message is' : `${left} more messages are`
  const whole = runId === undefined ? `reveille deliveries ${shortId(id)}` : `reveille runs ${shortId(runId)}`
  return `… ${rest} not sent. The whole reply: \`${whole}\``
}

function shortId(id: string): string {
  return id.slice(-6)
}
