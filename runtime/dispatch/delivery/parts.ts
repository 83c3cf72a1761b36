/** Renders a reply as the messages of its channel. A very long reply ends with a note where the rest can be read. */

import { type Channel, type Part, permanentError, type Target } from '@reveille/kit'
import { cut } from '../../cut.ts'
import type { DeliveryRecord } from '../../store/port.ts'
import { ownFault } from '../failure-scope.ts'

export interface DeliveryPlan {
  readonly target: Target
  readonly parts: readonly Part[]
}

/**
 * `maxMessages` holds only if the channel declares a bound. Parts that have receipts stay as they were, even if the bound
 * has changed since.
 * @throws what the channel throws
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

/** Renders the parts, and refuses all of them if one is malformed. @throws PluginError */
function partsOf(channel: Channel, markdown: string): readonly Part[] {
  const parts: readonly Part[] = channel.render(markdown)
  if (!Array.isArray(parts))
    throw permanentError(ownFault, 'the channel rendered the reply as no list of parts')
  if (parts.some((part: Partial<Part> | null | undefined) => typeof part?.text !== 'string'))
    throw permanentError(ownFault, 'the channel rendered the reply with a part that has no text')
  return parts
}

/** @throws PluginError */
function targetOf(channel: Channel, { to = '' }: DeliveryRecord): Target {
  const target: Target | null | undefined = channel.target(to)
  if (typeof target?.key === 'string') return target
  throw permanentError(ownFault, 'the channel made an address into a target without a key')
}

/** Invisible markup is shorter than visible text, so a reply has at most this many UTF-16 units for one of a message. */
const markupFactor = 2
/** Parsing more takes a good part of a second. UTF-16 units. */
const maxReadLength = 131_072

/**
 * Returns the beginning of a text that is enough for messages of this length: parsing a megabyte of Markdown would hold the
 * main loop for seconds. It ends with a line if one ends near.
 */
function readable(text: string, length: number): string {
  const maxLength = Math.min(markupFactor * length, maxReadLength)
  if (text.length <= maxLength) return text
  const end = text.lastIndexOf('\n', maxLength)
  return cut(text, end > maxLength / 2 ? end : maxLength)
}

/** The command line shows and takes the last six characters of ids. */
function noteOn({ id, runId }: DeliveryRecord, left: number | undefined): string {
  const rest =
    left === undefined ? 'The rest is' : left === 1 ? '1 more message is' : `${left} more messages are`
  const whole = runId === undefined ? `reveille deliveries ${shortId(id)}` : `reveille runs ${shortId(runId)}`
  return `… ${rest} not sent. The whole reply: \`${whole}\``
}

function shortId(id: string): string {
  return id.slice(-6)
}
