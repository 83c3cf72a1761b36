/** Owns the step from a reply to its delivery: to whom, on which lane, or why not at all. */

import type { Channel } from '@reveille/kit'
import { isAckOnly } from '../session/ack.ts'
import type { MintId } from '../store/id.ts'
import type { DeliveryRecord, NewTask, Route, RunRecord } from '../store/port.ts'
import { deliveryTask } from '../store/tasks.ts'
import { type Destination, resolveDestination } from './destination.ts'
import type { DispatchLog } from './options.ts'

export interface Outgoing {
  /** Absent when the run delivers nothing. */
  readonly delivery?: DeliveryRecord
  /** Present while the delivery is still to be sent. */
  readonly task?: NewTask
}

export function planDelivery(
  run: Pick<RunRecord, 'id' | 'deliver' | 'channel' | 'to' | 'generation'>,
  reply: string,
  facts: {
    readonly route: Route | undefined
    channel(name: string): Channel | undefined
    readonly ackToken: string
    readonly mintId: MintId
    readonly at: number
  },
): Outgoing {
  if (!run.deliver) return {}
  const destination = resolveDestination(run, facts.route, facts.channel)
  const base = {
    id: facts.mintId(),
    runId: run.id,
    channel: destination.channel,
    ...(destination.to === undefined ? {} : { to: destination.to }),
    text: reply,
    receipts: [],
    attempts: 0,
    generation: run.generation,
    createdAt: facts.at,
  }
  const silence = reasonToSkip(reply, facts.ackToken)
  if (silence) return { delivery: { ...base, ...silence, state: 'skipped', endedAt: facts.at } }
  if (!destination.ok) {
    const { code, reason } = destination
    return { delivery: { ...base, code, reason, state: 'parked', endedAt: facts.at } }
  }
  return {
    delivery: { ...base, state: 'pending', nextAt: facts.at },
    task: deliveryTask({ id: base.id, lane: laneTo(destination), dueAt: facts.at }),
  }
}

function reasonToSkip(reply: string, ackToken: string): { code: string; reason: string } | undefined {
  if (reply.trim() === '') return { code: 'BLANK_REPLY', reason: 'the reply is blank' }
  if (isAckOnly(reply, ackToken)) return { code: 'ACK_ONLY', reason: 'the reply is only the acknowledgement' }
  return undefined
}

/** One recipient gets its replies in order; two of them never wait for each other. */
function laneTo(destination: Extract<Destination, { ok: true }>): string {
  return `channel:${destination.channel}:${destination.target.key}`
}

/** A delivery that ended before it began. */
export function reportUnsent(
  log: DispatchLog,
  run: Pick<RunRecord, 'id' | 'requestId' | 'endpoint' | 'sessionKey'>,
  delivery: DeliveryRecord,
): void {
  const { id: runId, requestId, endpoint, sessionKey } = run
  const { id: deliveryId, channel, to, code, reason } = delivery
  const facts = { deliveryId, runId, requestId, endpoint, sessionKey, channel, to, code, reason }
  if (delivery.state === 'skipped') log.info({ event: 'delivery-skipped', ...facts }, 'nothing to deliver')
  if (delivery.state === 'parked') log.warn({ event: 'delivery-parked', ...facts }, 'delivery parked')
}
