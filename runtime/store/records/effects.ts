/** Applies a claim's effects in one transaction, but for new tasks: records, session history and consumed events. */

import type { Context } from '../context.ts'
import { type Effects, type Id, StoreError } from '../port.ts'
import {
  changeRun,
  consumeEvents,
  findDelivery,
  findRun,
  insertDelivery,
  insertEvent,
  readDelivery,
  updateDelivery,
  writeRun,
} from './runs.ts'
import { appendTurn, compactSession, keepRunnerState } from './sessions.ts'
import { addSpent } from './spending.ts'

export async function applyEffects(tx: Context, effects: Effects): Promise<void> {
  const { run, append = [], compact, runnerState, spend, consume, events = [], deliveries = [] } = effects
  if (run !== undefined) await writeRun(tx, run)
  for (const turn of append) await appendTurn(tx, turn)
  if (compact !== undefined) await compactSession(tx, compact)
  if (runnerState !== undefined) await keepRunnerState(tx, runnerState)
  if (spend !== undefined) await addSpent(tx, spend)
  if (consume !== undefined) await consumeEvents(tx, consume)
  for (const event of events) await insertEvent(tx, event)
  for (const delivery of deliveries) await insertDelivery(tx, delivery)
  if (effects.delivery !== undefined) await changeDelivery(tx, effects.delivery)
  if (effects.delivered !== undefined) await settleDelivered(tx, effects.delivered)
}

async function changeDelivery(tx: Context, patch: NonNullable<Effects['delivery']>): Promise<void> {
  const delivery = await findDelivery(tx, patch.id)
  if (delivery === undefined)
    throw new StoreError('BAD_ENTRY', 'an effect changes a delivery that does not exist')
  await updateDelivery(tx, { ...delivery, ...patch })
}

/** A run's deliveries go on lanes of their own and end in any order, so only the last one completes the run. */
async function settleDelivered(
  tx: Context,
  { run: id, at }: { readonly run: Id; readonly at: number },
): Promise<void> {
  const run = await findRun(tx, id)
  if (run === undefined) return
  for (const each of run.deliveryIds) {
    const delivery = await readDelivery(tx, each)
    if (delivery?.state === 'pending' || delivery?.state === 'parked') return
  }
  await changeRun(tx, { id, stage: 'delivered', deliveredAt: at })
}
