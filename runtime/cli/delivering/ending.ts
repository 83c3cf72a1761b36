/** Owns the lines that say what became of a delivery. */

import { printable } from '../../observe/printable.ts'
import type { DeliveryRecord, Route } from '../../store/port.ts'
import { counted } from '../counted.ts'
import type { Io } from '../io.ts'
import { programName } from '../pasted.ts'
import { missed } from '../reading/delivery-facts.ts'
import { shortId } from '../table.ts'

export function isDelivered({ state }: Pick<DeliveryRecord, 'state'>): boolean {
  return state === 'delivered'
}

/** `slack:C0123456789`. */
export function addressText({ channel, to }: Route): string {
  return printable(to === undefined ? channel : `${channel}:${to}`)
}

/** Of one that is over. */
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
  const command = `\`${programName(io)} replay ${name}\` sends it again`
  return `${name}: parked${part}: ${printable(why)}\n${command}`
}

/** Of one that the gateway goes on with. */
export function pendingText(id: string, route: Route, io: Io, waitsFor?: string): string {
  const name = shortId(id)
  const state = waitsFor === undefined ? 'kept' : `pending: ${printable(waitsFor)}`
  const command = `\`${programName(io)} deliveries ${name}\``
  return `${name}: ${state}, on its way to ${addressText(route)}; ${command} says what becomes of it`
}
