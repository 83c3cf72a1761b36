/** Owns the two commands about a delivery: one that no run makes, and the return of a parked one. */

import type { Command, CommandResult, DeliveryRecord, StoreLimits } from '../port.ts'
import { onlyParked } from '../tasks.ts'
import { refuseOverBacklog } from './backlog.ts'
import type { Deliveries } from './deliveries.ts'
import type { Schedule } from './schedule.ts'
import type { Tally } from './tally.ts'

export type SendingCommand = Extract<Command, { type: 'send' | 'replay-delivery' }>

export interface Sending {
  /** @throws StoreError `BACKLOG` */
  obey(command: SendingCommand): CommandResult
}

export interface SendingParts {
  readonly tally: Tally
  readonly schedule: Schedule
  readonly deliveries: Deliveries
  /** Asked for each delivery: it may change. */
  readonly limits: Pick<StoreLimits, 'backlog'>
}

export function createSending({ tally, schedule, deliveries, limits }: SendingParts): Sending {
  function send({ delivery, task }: SendingCommand & { type: 'send' }): CommandResult {
    // It may be over by now: its task is not armed once more.
    if (deliveries.find(delivery.id) !== undefined) return { ok: true }
    refuseOverBacklog(tally, limits)
    deliveries.insert(delivery)
    schedule.arm(task)
    return { ok: true }
  }

  function replay({
    delivery: id,
    at,
    to,
    task,
  }: SendingCommand & { type: 'replay-delivery' }): CommandResult {
    const delivery = deliveries.find(id)
    if (delivery === undefined) return { ok: false, why: 'unknown', reason: 'there is no such delivery' }
    const { state } = delivery
    if (state !== 'parked') return { ok: false, why: 'state', reason: onlyParked(state) }
    const isElsewhere = to.channel !== delivery.channel || to.to !== delivery.to
    if (isElsewhere && delivery.receipts.length > 0)
      return { ok: false, why: 'state', reason: 'a part of it has arrived somewhere else' }
    deliveries.update(asNew(delivery, to, at))
    schedule.arm(task)
    return { ok: true }
  }

  return { obey: (command) => (command.type === 'send' ? send(command) : replay(command)) }
}

/** What became of it before goes, whatever fields that takes; what it is, and what has arrived of it, stays. */
function asNew(
  { id, runId, text, receipts, generation, createdAt }: DeliveryRecord,
  { channel, to }: { readonly channel: string; readonly to: string },
  at: number,
): DeliveryRecord {
  return {
    id,
    ...(runId !== undefined && { runId }),
    state: 'pending',
    channel,
    to,
    text,
    receipts,
    attempts: 0,
    generation,
    createdAt,
    nextAt: at,
  }
}
