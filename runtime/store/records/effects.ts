/** Applies the effects of claims in one transaction, but for spending and new tasks: records, session history and consumed events. */

import type { Context } from '../context.ts'
import type { Effects } from '../port.ts'
import {
  changeDeliveries,
  changeRuns,
  consumeEvents,
  insertDeliveries,
  insertEvents,
  readRecords,
  writeRuns,
} from './runs.ts'
import { appendTurns, compactSession, keepRunnerStates } from './sessions.ts'

/** Effects of one kind are written together, those of one claim in their order. */
export async function applyEffects(tx: Context, all: readonly Effects[]): Promise<void> {
  await writeRuns(tx, each(all, 'run'))
  await appendTurns(tx, each(all, 'append'))
  for (const compact of each(all, 'compact')) await compactSession(tx, compact)
  keepRunnerStates(tx, each(all, 'runnerState'))
  for (const consume of each(all, 'consume')) await consumeEvents(tx, consume)
  await insertEvents(tx, each(all, 'events'))
  await insertDeliveries(tx, each(all, 'deliveries'))
  await changeDeliveries(tx, each(all, 'delivery'))
  await settleDelivered(tx, each(all, 'delivered'))
}

type One<Value> = Value extends readonly (infer Item)[] ? Item : Value

/** The effects of one kind, in their order. */
export function each<Kind extends keyof Effects>(all: readonly Effects[], kind: Kind) {
  const found: readonly unknown[] = all.map((effects) => effects[kind] ?? [])
  return found.flat() as One<NonNullable<Effects[Kind]>>[]
}

/** A run's deliveries go on lanes of their own and end in any order, so only the last one completes the run. */
async function settleDelivered(
  tx: Context,
  delivered: readonly NonNullable<Effects['delivered']>[],
): Promise<void> {
  if (delivered.length === 0) return
  const { among, forUpdate } = tx.dialect
  const ids = delivered.map(({ run }) => run)
  const runs = await readRecords('runs', tx, tx.dialect, ids, forUpdate)
  const rows = await tx.all<{ id: string }>(
    `SELECT id FROM deliveries WHERE id IN ${among('?1', 'id')} AND state IN ('pending', 'parked')`,
    [[...runs.values()].flatMap(({ deliveryIds }) => deliveryIds)],
  )
  const open = new Set(rows.map(({ id }) => id))
  await changeRuns(
    tx,
    delivered.flatMap(({ run: id, at }) =>
      runs.get(id)?.deliveryIds.some((each) => open.has(each))
        ? []
        : { id, stage: 'delivered', deliveredAt: at },
    ),
  )
}
