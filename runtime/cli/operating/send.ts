/** `reveille send`: gives a text to a running gateway, and waits for the end of its delivery. */

import type { Answer } from '../../api/routes/client.ts'
import { printable } from '../../observe/printable.ts'
import { type Client, openClient } from '../client.ts'
import { badUsage } from '../command-failure.ts'
import type { CommandOptions, Io } from '../io.ts'
import { counted, print, shortId, shortTime } from '../print.ts'
import { waitsFor } from '../records/records.ts'
import { utf8Of } from '../request-file.ts'
import { addressText } from '../status-text.ts'

type Delivery = Answer<'readDelivery'>

/** @returns 1 where the text was not delivered, or not yet */
export async function send(text: string, io: Io, options: CommandOptions): Promise<number> {
  const { channel = 'last', to, timeout = 60, wait } = options
  const markdown = text === '-' ? await readInput(io) : text
  if (markdown.trim() === '') throw badUsage('The text is blank: there is nothing to send.')
  const client = await openClient(io)
  const body = { channel, text: markdown, ...(to !== undefined && { to }) }
  const sent = await client.ask('sendDelivery', { body })
  if (wait === false) {
    return print(io, sent, () => pendingText(sent.deliveryId, sent, undefined))
  }
  const { delivery, reason } = await awaitEnd(client, sent.deliveryId, timeout * 1000, io)
  if (io.json || delivery.state === 'delivered') print(io, delivery, () => endText(delivery))
  else if (delivery.state !== 'pending') io.err(`${endText(delivery)}\n`)
  else {
    // A terminal has shown the reason already.
    const shown = io.columns === undefined ? (reason ?? 'It waits for its turn.') : ''
    io.err(`${pendingText(delivery.id, delivery, shown)}\n`)
  }
  return delivery.state === 'delivered' ? 0 : 1
}

/** The line feed at the end, which every program writes, is not part of the text. */
async function readInput({ input }: Io): Promise<string> {
  if (input === undefined) throw badUsage('There is no standard input to read the text from.')
  const text = utf8Of(await input())
  if (text === undefined) throw badUsage('The text on standard input is not valid UTF-8.')
  return text.replace(/^\ufeff|\r?\n$/g, '')
}

/** The pause before the delivery is looked up again, in milliseconds; most have ended by the second time. */
const firstPauseMs = 100
const maxPauseMs = 1000

/** The delivery is pending where the time was over first; `reason`: why, where that is known. */
async function awaitEnd(client: Client, id: string, timeoutMs: number, io: Io) {
  const deadline = io.now() + timeoutMs
  let shown: string | undefined
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const delivery = await client.ask('readDelivery', { params: { id } })
    if (delivery.state !== 'pending') return { delivery }
    const reason = (await waitsFor(client, delivery, io)) ?? retryText(delivery, io)
    // Each reason is shown once, on a terminal alone.
    if (io.columns !== undefined && reason !== undefined && reason !== shown) io.err(`${printable(reason)}\n`)
    shown = reason ?? shown
    const left = deadline - io.now()
    if (left <= 0) return { delivery, reason }
    await io.pause(Math.min(pauseMs, left))
  }
}

/** Reason of the last failure. */
function retryText({ code, reason, nextAt, attempts }: Delivery, io: Io): string | undefined {
  if (code === undefined || attempts === 0) return undefined
  const next = nextAt === undefined ? '' : ` at ${shortTime(nextAt, io.now())}`
  return `It is tried again${next}: ${code}${reason === undefined ? '' : `: ${reason}`}`
}

/** The lines for a delivery that has ended. */
function endText(delivery: Delivery): string {
  const { id, state, code, reason, receipts } = delivery
  const name = shortId(id)
  const messages = counted(receipts.length, 'message')
  const why = printable([code, reason].filter(Boolean).join(': '))
  if (state === 'skipped') return `${name}: not sent: ${why}`
  if (state === 'delivered') {
    const head = `${name}: delivered to ${printable(addressText(delivery))}`
    const lost = receipts.flatMap(missed).map((each) => `  not to ${printable(each)}`)
    return [receipts.length === 1 ? head : `${head}, ${messages}`, ...lost].join('\n')
  }
  const part = receipts.length === 0 ? '' : ` after ${messages}`
  return `${name}: parked${part}: ${why}\n\`reveille replay ${name}\` sends it again`
}

/** The recipients of a group that its message did not reach. A channel's record has no certain field. */
function missed(receipt: unknown): string[] {
  const { partial } = (receipt ?? {}) as { partial?: readonly { target?: unknown; reason?: unknown }[] }
  return Array.isArray(partial) ? partial.map(({ target, reason }) => `${target}: ${reason}`) : []
}

/** The lines for a delivery that the gateway still works on; `reason` has a line of its own. */
function pendingText(id: string, to: Parameters<typeof addressText>[0], reason: string | undefined) {
  const name = shortId(id)
  return [
    `${name}: ${reason === undefined ? 'kept' : 'pending'}, on its way to ${printable(addressText(to))}`,
    ...(reason ? [printable(reason)] : []),
    `\`reveille show ${name}\` says what becomes of it`,
  ].join('\n')
}
