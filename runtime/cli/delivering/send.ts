/** `reveille send`: gives a text to a running gateway, and waits for the end of its delivery. */

import { printable } from '../../observe/printable.ts'
import type { DeliveryRecord } from '../../store/port.ts'
import { CommandFailure } from '../command-failure.ts'
import { type CommandOptions, type Io, wrapText } from '../io.ts'
import { type Admin, openAdmin } from '../reading/admin-client.ts'
import { holdOf } from '../reading/records.ts'
import { shortTime } from '../table.ts'
import { endText, pendingText } from './delivery-text.ts'

interface SendOptions extends CommandOptions {
  readonly channel: string
  readonly to?: string
  /** Seconds. */
  readonly timeout: number
  readonly wait: boolean
}

interface Sent {
  readonly deliveryId: string
  readonly channel: string
  readonly to: string
}

/** @returns 1 where the text was not delivered, or not yet */
export async function send(text: string, options: SendOptions, io: Io): Promise<number> {
  const { channel, to, json = false } = options
  const markdown = text === '-' ? await readInput(io) : text
  if (markdown.trim() === '') throw new CommandFailure(2, 'The text is blank: there is nothing to send.')
  const admin = await openAdmin(options, io)
  const sent = (await admin.sendJson('POST', '/api/deliveries', { channel, to, text: markdown })) as Sent
  if (!options.wait) {
    io.out(json ? `${JSON.stringify(sent, null, 2)}\n` : `${pendingText(sent.deliveryId, sent, io)}\n`)
    return 0
  }
  const { delivery, waitsFor } = await awaitEnd(admin, sent.deliveryId, options.timeout * 1000, io)
  if (json) io.out(`${JSON.stringify(delivery, null, 2)}\n`)
  else report(delivery, waitsFor)
  return delivery.state === 'delivered' ? 0 : 1

  function report(delivery: DeliveryRecord, waitsFor: string | undefined): void {
    // A terminal has shown the reason already.
    const reason = io.columns === undefined ? (waitsFor ?? 'It waits for its turn.') : ''
    if (delivery.state === 'delivered') io.out(`${endText(delivery, io)}\n`)
    else if (delivery.state !== 'pending') io.err(`${wrapText(endText(delivery, io), io)}\n`)
    else io.err(`${wrapText(pendingText(delivery.id, delivery, io, reason), io)}\n`)
  }
}

/** The line feed at the end, which every program writes, is not part of the text. */
async function readInput({ input }: Io): Promise<string> {
  if (input === undefined) throw new CommandFailure(2, 'There is no standard input to read the text from.')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await input()).replace(/\r?\n$/, '')
  } catch (cause) {
    throw new CommandFailure(2, 'The text on standard input is not valid UTF-8.', { cause })
  }
}

/** The pause before the delivery is looked up again, in milliseconds; most have ended by the second time. */
const firstPauseMs = 100
const maxPauseMs = 1000

interface Awaited {
  /** Is pending where the time was over first. */
  readonly delivery: DeliveryRecord
  /** Why the delivery is still pending, where that is known. */
  readonly waitsFor?: string
}

async function awaitEnd(admin: Admin, id: string, timeoutMs: number, io: Io): Promise<Awaited> {
  const deadline = io.now() + timeoutMs
  const showReason = createReasonReporter(io)
  let pauseMs = firstPauseMs
  for (;;) {
    const delivery = (await admin.get(`/api/deliveries/${id}`)) as DeliveryRecord
    if (delivery.state !== 'pending') return { delivery }
    const waitsFor = await reasonToWait(admin, delivery, io)
    showReason(waitsFor)
    const left = deadline - io.now()
    if (left <= 0) return { delivery, ...(waitsFor !== undefined && { waitsFor }) }
    await io.pause(Math.min(pauseMs, left))
    pauseMs = Math.min(2 * pauseMs, maxPauseMs)
  }
}

/** Why the channel is held, which concerns all its deliveries; else why the last attempt of this one failed. */
async function reasonToWait(admin: Admin, delivery: DeliveryRecord, io: Io): Promise<string | undefined> {
  const { channel, code, reason, nextAt, attempts } = delivery
  const hold = await holdOf(channel, admin, io)
  if (hold !== undefined) return hold
  if (code === undefined || attempts === 0) return undefined
  const next = nextAt === undefined ? '' : ` at ${shortTime(nextAt, io.now())}`
  return `It is tried again${next}: ${code}${reason === undefined ? '' : `: ${reason}`}`
}

/** Shows each reason once, on a terminal alone. */
function createReasonReporter(io: Io): (reason: string | undefined) => void {
  let shown: string | undefined
  return (reason) => {
    if (io.columns === undefined || reason === undefined || reason === shown) return
    shown = reason
    io.err(`${wrapText(printable(reason), io)}\n`)
  }
}
