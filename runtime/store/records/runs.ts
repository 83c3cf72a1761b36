/** Finds, inserts and changes single runs, events and deliveries. */

import type { Statements } from '@reveille/kit'
import type { Context } from '../context.ts'
import { isId } from '../id.ts'
import {
  type DeliveryRecord,
  type Effects,
  type EventRecord,
  type Id,
  type RunError,
  type RunRecord,
  StoreError,
} from '../port.ts'
import { tables } from '../schema.ts'
import {
  type DeliveryRow,
  deliveryOf,
  encodeString,
  type RunRow,
  rowOfDelivery,
  rowOfEvent,
  rowOfRun,
  runOf,
  wholeRun,
} from './rows.ts'

async function findRow({ all }: Statements, id: Id, lock = ''): Promise<RunRow | undefined> {
  if (!isId(id)) return undefined
  const [row] = await all<RunRow>(`SELECT ${wholeRun} FROM runs WHERE id = ?1 ${lock}`, [id])
  return row
}

export async function readRun(statements: Statements, id: Id): Promise<RunRecord | undefined> {
  const row = await findRow(statements, id)
  return row && runOf(row)
}

/** Finds a run, and keeps other transactions from changing it. */
export async function findRun(tx: Context, id: Id): Promise<RunRecord | undefined> {
  const row = await findRow(tx, id, tx.dialect.forUpdate)
  return row && runOf(row)
}

export async function insertRun(tx: Context, run: RunRecord): Promise<void> {
  await tx.insert(tables.runs, [rowOfRun(run)])
  tx.changed('run', run.id, run.state, run.stage)
}

/** Writes the fields of the patch. A field that is undefined is removed. Returns false if there is no such run. */
export async function changeRun(
  tx: Context,
  { id, ...patch }: Partial<RunRecord> & { readonly id: Id },
): Promise<boolean> {
  const [row] = await tx.all<Pick<RunRow, 'state' | 'changes'>>(
    `SELECT state, changes FROM runs WHERE id = ?1 ${tx.dialect.forUpdate}`,
    [id],
  )
  if (row === undefined) return false
  const changes = row.changes === null ? {} : JSON.parse(row.changes)
  for (const [name, value] of Object.entries(patch)) changes[name] = value ?? null
  const state = patch.state ?? row.state
  await tx.run('UPDATE runs SET state = ?1, changes = ?2 WHERE id = ?3', [state, JSON.stringify(changes), id])
  tx.changed('run', id, state, changes.stage ?? 'accepted')
  return true
}

/** Erases a run's prompt, its results, and its name, which a template may have copied from a payload. */
export async function forgetRun(tx: Context, id: Id, at: number): Promise<void> {
  const row = await findRow(tx, id, tx.dialect.forUpdate)
  if (row === undefined) return
  const changes = withoutTexts(JSON.parse(row.changes ?? '{}'))
  const forgotten = { ...changes, message: '', prompt: '', forgottenAt: changes.forgottenAt ?? at }
  const record = { ...withoutTexts(JSON.parse(row.record)), message: '', prompt: '' }
  await tx.run('UPDATE runs SET record = ?1, changes = ?2 WHERE id = ?3', [
    JSON.stringify(record),
    JSON.stringify(forgotten),
    id,
  ])
  tx.changed('run', id, row.state, changes.stage ?? 'accepted')
}

/** Returns a run's fields without prose. Codes and times stay. */
function withoutTexts(fields: Partial<RunRecord>): Partial<RunRecord> {
  const { name: _name, reply: _reply, warnings: _warnings, error, attempts, retries, ...rest } = fields
  const forgotten = (old: RunError) => ({ ...old, message: 'forgotten' })
  return {
    ...rest,
    ...(error && { error: forgotten(error) }),
    ...(retries && {
      retries: retries.map((retry) => ({ ...retry, ...(retry.error && { error: forgotten(retry.error) }) })),
    }),
    ...(attempts && { attempts: attempts.map(({ reason: _reason, ...attempt }) => attempt) }),
  }
}

/** Inserts an event. Does nothing if it is there already. */
export async function insertEvent(tx: Context, event: EventRecord): Promise<void> {
  if ((await tx.insert(tables.events, [rowOfEvent(event)], 'IGNORE')) === 0) return
  const isPending = event.state === 'pending'
  if (isPending) countPending(tx, event.mode === 'now' ? 0 : 1, 1)
  tx.changed('event', event.id, isPending ? 'pending' : 'consumed')
}

export function countPending(tx: Context, urgency: number, by: 1 | -1): void {
  tx.count('pending', by)
  if (urgency === 0) tx.count('pendingNow', by)
}

/** Notes that a turn has shown events, of those that are pending. */
export async function consumeEvents(
  tx: Context,
  { by, at, events }: NonNullable<Effects['consume']>,
): Promise<void> {
  const rows = await tx.all<{ id: Id; urgency: number }>(
    `UPDATE events SET pending = NULL, consumed_at = ?1, consumed_by = ?2
     WHERE id IN ${tx.dialect.among('?3', 'id')} AND pending = 1 RETURNING id, urgency`,
    [at, by, events],
  )
  for (const { id, urgency } of rows) {
    countPending(tx, urgency, -1)
    tx.changed('event', id, 'consumed')
  }
}

export async function readDelivery({ all }: Statements, id: Id): Promise<DeliveryRecord | undefined> {
  if (!isId(id)) return undefined
  const [row] = await all<DeliveryRow>('SELECT record FROM deliveries WHERE id = ?1', [id])
  return row && deliveryOf(row)
}

/** Finds a delivery, and keeps other transactions from changing it. */
export async function findDelivery(tx: Context, id: Id): Promise<DeliveryRecord | undefined> {
  if (!isId(id)) return undefined
  const [row] = await tx.all<DeliveryRow>(
    `SELECT record FROM deliveries WHERE id = ?1 ${tx.dialect.forUpdate}`,
    [id],
  )
  return row && deliveryOf(row)
}

/** Inserts a delivery. Does nothing if it is there already. */
export async function insertDelivery(tx: Context, delivery: DeliveryRecord): Promise<void> {
  if ((await tx.insert(tables.deliveries, [rowOfDelivery(delivery)], 'IGNORE')) > 0)
    tx.changed('delivery', delivery.id, delivery.state)
}

export async function updateDelivery(tx: Context, delivery: DeliveryRecord): Promise<void> {
  const { id, state, channel } = delivery
  await tx.run('UPDATE deliveries SET state = ?1, channel = ?2, record = ?3 WHERE id = ?4', [
    state,
    encodeString(channel),
    JSON.stringify(delivery),
    id,
  ])
  tx.changed('delivery', id, state)
}

/** Erases the text of a delivery. */
export async function forgetDelivery(tx: Context, id: Id, at: number): Promise<void> {
  const delivery = await findDelivery(tx, id)
  if (delivery !== undefined)
    await updateDelivery(tx, { ...delivery, text: '', forgottenAt: delivery.forgottenAt ?? at })
}

/** Changes a run, or inserts the whole record of a new one. */
export async function writeRun(tx: Context, patch: NonNullable<Effects['run']>): Promise<void> {
  if (await changeRun(tx, patch)) return
  if (patch.kind === undefined)
    throw new StoreError('BAD_ENTRY', 'an effect changes a run that does not exist')
  await insertRun(tx, patch as RunRecord)
}
