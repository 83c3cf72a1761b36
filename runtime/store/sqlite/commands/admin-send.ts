/** Carries out the two commands about a delivery: an operator sends a text, or returns a parked delivery to the queue. */

import type { Command, CommandResult, DeliveryRecord } from '../../port.ts'
import { onlyParked } from '../../tasks.ts'
import type { Parts } from '../parts.ts'
import { refuseOverBacklog } from '../records/counters.ts'

export function createAdminSend({ counters, schedule, deliveries, limits }: Parts) {
  return {
    /** @throws StoreError `BACKLOG` */
    send({ delivery, task }: Command & { type: 'send' }): CommandResult {
      // A delivery that is sent again may have ended already: it gets no second task.
      if (deliveries.find(delivery.id) !== undefined) return { ok: true }
      refuseOverBacklog(counters, limits)
      deliveries.insert(delivery)
      schedule.add(task)
      return { ok: true }
    },

    replay({ delivery: id, at, to, task }: Command & { type: 'replay-delivery' }): CommandResult {
      const delivery = deliveries.find(id)
      if (delivery === undefined) return { ok: false, why: 'unknown', reason: 'there is no such delivery' }
      const { state } = delivery
      if (state !== 'parked') return { ok: false, why: 'state', reason: onlyParked(state) }
      const isElsewhere = to.channel !== delivery.channel || to.to !== delivery.to
      if (isElsewhere && delivery.receipts.length > 0)
        return { ok: false, why: 'state', reason: 'a part of it has arrived somewhere else' }
      deliveries.update(pendingAgain(delivery, to, at))
      schedule.add(task)
      return { ok: true }
    },
  }
}

/** Keeps what the delivery is and what has arrived of it, and drops every field about its fate. */
function pendingAgain(
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
