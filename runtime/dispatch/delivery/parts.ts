/** Owns what a reply becomes on its channel: its messages, and of a very long one where the rest can be read. */

import { type Channel, type Part, PluginError, type Target } from '@reveille/kit'
import { cut } from '../../cut.ts'
import type { DeliveryRecord } from '../../store/port.ts'
import { ownFault } from './trouble.ts'

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
  const parts = partsOf(channel, text)
  const target = targetOf(channel, delivery)
  if (limits.parts === undefined || (isWhole && parts.length <= Math.max(maxMessages, kept)))
    return { target, parts }
  const note = partsOf(channel, noteOn(delivery, isWhole ? parts.length - kept : undefined)).slice(0, 1)
  return { target, parts: [...parts.slice(0, kept), ...note] }
}

/** Nothing of a part that is none is sent, nor of the others. @throws PluginError */
function partsOf(channel: Channel, markdown: string): readonly Part[] {
  const parts: readonly Part[] = channel.render(markdown)
  if (!Array.isArray(parts)) throw nonsense('the channel rendered the reply as no list of parts')
  if (parts.some((part: Partial<Part> | null | undefined) => typeof part?.text !== 'string'))
    throw nonsense('the channel rendered the reply with a part that has no text')
  return parts
}

/** @throws PluginError */
function targetOf(channel: Channel, { to = '' }: DeliveryRecord): Target {
  const target: Target | null | undefined = channel.target(to)
  if (typeof target?.key === 'string') return target
  throw nonsense('the channel made an address into a target without a key')
}

/** In words of the host's own, which may be logged. */
function nonsense(message: string): PluginError {
  return new PluginError(message, { code: ownFault, retryable: false })
}

/** Markup that nobody sees takes less than what they see. UTF-16 units of a reply for one of a message. */
const markupFactor = 2
/** More takes a good part of a second to read. UTF-16 units. */
const longestRead = 131_072

/**
 * What can come of so much of a message's length: reading a megabyte of Markdown takes seconds, in which nothing else has
 * its turn. Up to the end of a line where there is one near.
 */
function readable(text: string, length: number): string {
  const most = Math.min(markupFactor * length, longestRead)
  if (text.length <= most) return text
  const end = text.lastIndexOf('\n', most)
  return cut(text, end > most / 2 ? end : most)
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
