/** Owns what a reply becomes on its channel: its messages, and of a very long one where the rest can be read. */

import type { Channel, Part, Target } from '@reveille/kit'
import { cut } from '../../cut.ts'
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
  const { limits } = channel
  const kept = Math.max(maxMessages - 1, delivery.receipts.length)
  const text = limits.parts === undefined ? delivery.text : readable(delivery.text, (kept + 1) * limits.part)
  const isWhole = text.length === delivery.text.length
  const parts: readonly Part[] = channel.render(text)
  if (!Array.isArray(parts)) throw new TypeError('the channel rendered the reply as no list of parts')
  const target = channel.target(delivery.to ?? '')
  if (limits.parts === undefined || (isWhole && parts.length <= Math.max(maxMessages, kept)))
    return { target, parts }
  const note = channel.render(noteOn(delivery, isWhole ? parts.length - kept : undefined)).slice(0, 1)
  return { target, parts: [...parts.slice(0, kept), ...note] }
}

/** Markup that nobody sees takes less than what they see. UTF-16 units of a reply for one of a message. */
const markupFactor = 2

/**
 * What can come of so much of a message's length: reading a megabyte of Markdown takes seconds, in which nothing else has
 * its turn. Up to the end of a line where there is one near.
 */
function readable(text: string, length: number): string {
  const most = markupFactor * length
  if (text.length <= most) return text
  const end = text.lastIndexOf('\n', most)
  return cut(text, end > length ? end : most)
}

/** The ends of ids are what the lists of the command line show and take. */
function noteOn({ id, runId }: DeliveryRecord, left: number | undefined): string {
  const rest =
    left === undefined ? 'The rest is' : left === 1 ? '1 more message is' : `${left} more messages are`
  const whole = runId === undefined ? `reveille deliveries ${shortId(id)}` : `reveille runs ${shortId(runId)}`
  return `… ${rest} not sent. The whole reply: \`${whole}\``
}

function shortId(id: string): string {
  return id.slice(-6)
}
