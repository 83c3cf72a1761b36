/** Writes the lines that say what became of a delivery. */

import { printable } from '../../observe/printable.ts'
import type { DeliveryRecord, Route } from '../../store/port.ts'
import { counted } from '../counted.ts'
import type { Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { missed } from '../reading/record-facts.ts'
import { shortId } from '../table.ts'

/** `slack:C0123456789`. */
export function addressText({ channel, to }: Route): string {
  return printable(to === undefined ? channel : `${channel}:${to}`)
}

/** The lines for a delivery that has ended. */
export function endText(delivery: DeliveryRecord, io: Io): string {
  const { id, state, code, reason, receipts } = delivery
  const name = shortId(id)
  const sent = receipts.length === 1 ? '' : `, ${counted(receipts.length, 'message')}`
  if (state === 'delivered') {
    const lost = receipts.flatMap((receipt) => missed((receipt as { partial?: never } | null)?.partial))
    const lines = [`${name}: delivered to ${addressText(delivery)}${sent}`]
    return [...lines, ...lost.map((each) => `  not to ${printable(each)}`)].join('\n')
  }
  const why = [code, reason].filter(Boolean).join(': ')
  if (state === 'skipped') return `${name}: not sent: ${printable(why)}`
  const part = receipts.length === 0 ? '' : ` after ${counted(receipts.length, 'message')}`
  return `${name}: parked${part}: ${printable(why)}\n${pasted(`replay ${name}`, io)} sends it again`
}

/** The lines for a delivery that the gateway still works on; `waitsFor` gets a line of its own. */
export function pendingText(id: string, route: Route, io: Io, waitsFor?: string): string {
  const name = shortId(id)
  return [
    `${name}: ${waitsFor === undefined ? 'kept' : 'pending'}, on its way to ${addressText(route)}`,
    ...(waitsFor ? [printable(waitsFor)] : []),
    `${pasted(`deliveries ${name}`, io)} says what becomes of it`,
  ].join('\n')
}
