/** Applies a claim's effects in one transaction: records, session history, consumed events and new tasks. */

import type { Effects, RunRecord } from '../../port.ts'
import { StoreError } from '../../port.ts'
import type { Parts } from '../parts.ts'
import { createSessions } from './sessions.ts'
import { createSpending } from './spending.ts'

export type ApplyEffects = (effects: Effects, now: number) => void

export function createEffects(
  parts: Pick<Parts, 'db' | 'schedule' | 'runs' | 'events' | 'deliveries' | 'histories'>,
): ApplyEffects {
  const { db, schedule, runs, events, deliveries, histories } = parts
  const sessions = createSessions(db, histories)
  const spend = createSpending(db)
  function changeRun(patch: NonNullable<Effects['run']>): void {
    if (runs.change(patch)) return
    if (patch.kind === undefined)
      throw new StoreError('BAD_ENTRY', 'an effect changes a run that does not exist')
    runs.insert(patch as RunRecord)
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
    runs.change({ id: runId, stage: 'delivered', deliveredAt: at })
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
    if (effects.consume !== undefined) events.consume(effects.consume)
    for (const event of effects.events ?? []) events.insert(event)
    for (const delivery of effects.deliveries ?? []) deliveries.insert(delivery)
    if (effects.delivery !== undefined) changeDelivery(effects.delivery)
    if (effects.delivered !== undefined) settleDelivered(effects.delivered)
    for (const task of effects.tasks ?? []) schedule.add(task)
  }
}
