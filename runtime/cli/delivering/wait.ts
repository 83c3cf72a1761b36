/** Owns the wait for a delivery's end, and what is told meanwhile of why it takes so long. */

import type { GatewayStatus } from '../../api/index.ts'
import { printable } from '../../observe/printable.ts'
import type { DeliveryRecord } from '../../store/port.ts'
import { broken, type Io } from '../io.ts'
import type { Admin } from '../reading/admin-client.ts'
import { holdText } from '../reading/channel-text.ts'
import { shortTime } from '../table.ts'

/** Between two looks; most deliveries are over by the second. Milliseconds. */
const firstPauseMs = 100
const mostPauseMs = 1000

export interface Awaited {
  /** Pending where the time was over first. */
  readonly delivery: DeliveryRecord
  /** Why it is pending still, where that is known. */
  readonly waitsFor?: string
}

export async function awaitEnd(admin: Admin, id: string, timeoutMs: number, io: Io): Promise<Awaited> {
  const deadline = io.now() + timeoutMs
  const tell = createTeller(io)
  let pauseMs = firstPauseMs
  for (;;) {
    const delivery = (await admin.get(`/api/deliveries/${id}`)) as DeliveryRecord
    if (delivery.state !== 'pending') return { delivery }
    const waitsFor = await reasonToWait(admin, delivery, io)
    tell(waitsFor)
    const left = deadline - io.now()
    if (left <= 0) return { delivery, ...(waitsFor !== undefined && { waitsFor }) }
    await io.pause(Math.min(pauseMs, left))
    pauseMs = Math.min(2 * pauseMs, mostPauseMs)
  }
}

/** The channel's trouble is everybody's; without it, the delivery's own. */
async function reasonToWait(admin: Admin, delivery: DeliveryRecord, io: Io): Promise<string | undefined> {
  const { channel, code, reason, nextAt, attempts } = delivery
  const { channels = [] } = (await admin.get('/api/status')) as GatewayStatus
  const hold = holdText(
    channels.find((status) => status.channel === channel),
    io.now(),
  )
  if (hold !== undefined) return hold
  if (code === undefined || attempts === 0) return undefined
  const next = nextAt === undefined ? '' : ` at ${shortTime(nextAt, io.now())}`
  return `It is tried again${next}: ${code}${reason === undefined ? '' : `: ${reason}`}`
}

/** On a terminal; each reason once. */
function createTeller(io: Io): (reason: string | undefined) => void {
  let told: string | undefined
  return (reason) => {
    if (io.columns === undefined || reason === undefined || reason === told) return
    told = reason
    io.err(`${broken(printable(reason), io)}\n`)
  }
}
