/** Applies a claim's effects in one transaction: records, session history, consumed events and new tasks. */

import type { Effects, EventRecord, RunRecord } from '../../port.ts'
import { StoreError } from '../../port.ts'
import { blobOfId } from '../database/id-blob.ts'
import type { Parts } from '../parts.ts'
import { createSessions } from './sessions.ts'
import { createSpending } from './spending.ts'

export type ApplyEffects = (effects: Effects, now: number) => void

export function createEffects(parts: Omit<Parts, 'coalescing' | 'limits'>): ApplyEffects {
  const { db, counters, schedule, runs, deliveries, changed } = parts
  const sessions = createSessions(db)
  const spend = createSpending(db)
  const selectEvent = db.prepare('SELECT record FROM events WHERE id = ?')
  const insertEvent = db.prepare('INSERT INTO events VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING')
  const updateEvent = db.prepare('UPDATE events SET state = ?, record = ? WHERE id = ?')
  const insertInbox = db.prepare('INSERT INTO inbox VALUES (?, ?)')
  const deleteInbox = db.prepare('DELETE FROM inbox WHERE rank = ? AND id = ?')

  function changeRun(patch: NonNullable<Effects['run']>): void {
    const run = runs.find(patch.id)
    if (run !== undefined) runs.update({ ...run, ...patch })
    else if (patch.kind !== undefined) runs.insert(patch as RunRecord)
    else throw new StoreError('BAD_ENTRY', 'an effect changes a run that does not exist')
  }

  function addEvent(event: EventRecord): void {
    const id = blobOfId(event.id)
    if (insertEvent.run(id, event.state, JSON.stringify(event)).changes === 0) return
    changed('event', event.id, event.state)
    if (event.state !== 'pending') return
    insertInbox.run(event.mode === 'now' ? 0 : 1, id)
    counters.pending += 1
    if (event.mode === 'now') counters.pendingNow += 1
  }

  function consume({ by, at, events }: NonNullable<Effects['consume']>): void {
    for (const eventId of events) {
      const id = blobOfId(eventId)
      const asked = Number(deleteInbox.run(0, id).changes)
      const waited = asked === 0 ? Number(deleteInbox.run(1, id).changes) : 0
      if (asked + waited === 0) continue
      counters.pending -= 1
      counters.pendingNow -= asked
      const { record } = selectEvent.get(id) as { record: string }
      const event: EventRecord = { ...JSON.parse(record), state: 'consumed', consumedAt: at, consumedBy: by }
      updateEvent.run(event.state, JSON.stringify(event), id)
      changed('event', eventId, event.state)
    }
  }

  function changeDelivery(patch: NonNullable<Effects['delivery']>): void {
    const delivery = deliveries.find(patch.id)
    if (delivery === undefined)
      throw new StoreError('BAD_ENTRY', 'an effect changes a delivery that does not exist')
    deliveries.update({ ...delivery, ...patch })
  }

  /** A run's deliveries go on lanes of their own and end in any order, so only the last one completes the run. */
  function settleDelivered({ run: runId, at }: NonNullable<Effects['delivered']>): void {
    const run = runs.find(runId)
    if (run === undefined || run.deliveryIds.some(isOpen)) return
    runs.update({ ...run, stage: 'delivered', deliveredAt: at })
  }

  function isOpen(deliveryId: string): boolean {
    const state = deliveries.find(deliveryId)?.state
    return state === 'pending' || state === 'parked'
  }

  return (effects, now) => {
    if (effects.run !== undefined) changeRun(effects.run)
    for (const turn of effects.append ?? []) sessions.append(turn)
    if (effects.compact !== undefined) sessions.compact(effects.compact)
    if (effects.runnerState !== undefined) sessions.keepState(effects.runnerState, now)
    if (effects.spend !== undefined) spend(effects.spend)
    if (effects.consume !== undefined) consume(effects.consume)
    for (const event of effects.events ?? []) addEvent(event)
    for (const delivery of effects.deliveries ?? []) deliveries.insert(delivery)
    if (effects.delivery !== undefined) changeDelivery(effects.delivery)
    if (effects.delivered !== undefined) settleDelivered(effects.delivered)
    for (const task of effects.tasks ?? []) schedule.add(task)
  }
}
