/** `reveille send`: hands a text to a running gateway, and waits for what becomes of it. */

import type { DeliveryRecord } from '../../store/port.ts'
import { CommandFailure } from '../command-failure.ts'
import { broken, type Io } from '../io.ts'
import { openAdmin } from '../reading/admin-client.ts'
import { endText, isDelivered, pendingText } from './ending.ts'
import { awaitEnd } from './wait.ts'

export interface SendOptions {
  readonly config?: string
  readonly channel: string
  readonly to?: string
  /** Seconds. */
  readonly timeout: number
  readonly wait: boolean
  readonly json?: boolean
}

interface Sent {
  readonly deliveryId: string
  readonly channel: string
  readonly to: string
}

/** @returns 1 where it was not delivered, or not yet */
export async function send(text: string, options: SendOptions, io: Io): Promise<number> {
  const { channel, to, json = false } = options
  const markdown = text === '-' ? await readInput(io) : text
  if (markdown.trim() === '') throw new CommandFailure(2, 'The text is blank: there is nothing to send.')
  const admin = await openAdmin(options, io)
  const sent = (await admin.give('POST', '/api/deliveries', { channel, to, text: markdown })) as Sent
  if (!options.wait) {
    io.out(json ? `${JSON.stringify(sent, null, 2)}\n` : `${pendingText(sent.deliveryId, sent, io)}\n`)
    return 0
  }
  const { delivery, waitsFor } = await awaitEnd(admin, sent.deliveryId, options.timeout * 1000, io)
  if (json) io.out(`${JSON.stringify(delivery, null, 2)}\n`)
  else tell(delivery, waitsFor)
  return isDelivered(delivery) ? 0 : 1

  function tell(delivery: DeliveryRecord, waitsFor: string | undefined): void {
    // On a terminal the reason has been told already.
    const reason = io.columns === undefined ? (waitsFor ?? 'It waits for its turn.') : ''
    if (isDelivered(delivery)) io.out(`${endText(delivery, io)}\n`)
    else if (delivery.state !== 'pending') io.err(`${broken(endText(delivery, io), io)}\n`)
    else io.err(`${broken(pendingText(delivery.id, delivery, io, reason), io)}\n`)
  }
}

/** The line feed that every program ends its output with is none of the text. */
async function readInput({ input }: Io): Promise<string> {
  if (input === undefined) throw new CommandFailure(2, 'There is no standard input to read the text from.')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await input()).replace(/\r?\n$/, '')
  } catch (cause) {
    throw new CommandFailure(2, 'The text on standard input is not valid UTF-8.', { cause })
  }
}
