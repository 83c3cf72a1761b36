/** Finds, inserts and changes single runs, events and deliveries. */

import type { Dialect, Statements, Table } from '@reveille/kit'
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
  deliveryOf,
  type RowValues,
  type RunRow,
  rowOfDelivery,
  rowOfEvent,
  rowOfRun,
  runOf,
  wholeRun,
} from './rows.ts'

const kinds = {
  runs: { columns: wholeRun, recordOf: runOf },
  deliveries: { columns: 'id, record', recordOf: deliveryOf },
}

type Kind = keyof typeof kinds
type RecordOf<Of extends Kind> = ReturnType<(typeof kinds)[Of]['recordOf']>

/** Reads the runs or deliveries that there are of some, by their ids. */
export async function readRecords<Of extends Kind>(
  kind: Of,
  { all }: Statements,
  { among }: Pick<Dialect, 'among'>,
  ids: readonly Id[],
  lock = '',
): Promise<Map<Id, RecordOf<Of>>> {
  const validIds = ids.filter(isId)
  if (validIds.length === 0) return new Map()
  const { columns, recordOf } = kinds[kind]
  const sql = `SELECT ${columns} FROM ${kind} WHERE id IN ${among('?1', 'id')} ORDER BY id ${lock}`
  const rows = await all<RunRow>(sql, [validIds])
  return new Map(rows.map((row) => [row.id, recordOf(row) as RecordOf<Of>]))
}

/** Finds a run or a delivery. By default other transactions are kept from changing it. */
export async function findRecord<Of extends Kind>(
  tx: Context,
  kind: Of,
  id: Id,
  lock = tx.dialect.forUpdate,
): Promise<RecordOf<Of> | undefined> {
  return (await readRecords(kind, tx, tx.dialect, [id], lock)).get(id)
}

type RunPatch = NonNullable<Effects['run']>

/** Writes the fields of patches, in their order. A field that is undefined is removed. Returns the patches of runs that are not there. */
export async function changeRuns(tx: Context, patches: readonly RunPatch[]): Promise<readonly RunPatch[]> {
  if (patches.length === 0) return []
  const rows = await tx.all<Pick<RunRow, 'id' | 'state' | 'changes'>>(
    `SELECT id, state, changes FROM runs WHERE id IN ${tx.dialect.among('?1', 'id')} ORDER BY id ${tx.dialect.forUpdate}`,
    [patches.map(({ id }) => id)],
  )
  const runs = new Map(
    rows.map(({ id, state, changes }) => [id, { state, changes: JSON.parse(changes ?? '{}') }]),
  )
  for (const { id, ...patch } of patches) {
    const run = runs.get(id)
    if (run === undefined) continue
    for (const [name, value] of Object.entries(patch)) run.changes[name] = value ?? null
    run.state = patch.state ?? run.state
  }
  const rowsOfRuns = [...runs].map(([id, { state, changes }]) => [id, state, JSON.stringify(changes)])
  tx.later(tx.update(tables.runs, ['state', 'changes'], rowsOfRuns))
  for (const [id, { state, changes }] of runs) tx.changed('run', id, state, changes.stage ?? 'accepted')
  return patches.filter(({ id }) => !runs.has(id))
}

/** Erases a run's prompt, its results, and its name, which a template may have copied from a payload. */
export async function forgetRun(tx: Context, id: Id, at: number): Promise<void> {
  const [row] = await tx.all<RunRow>(`SELECT ${wholeRun} FROM runs WHERE id = ?1 ${tx.dialect.forUpdate}`, [
    id,
  ])
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

/** Inserts records that are not there yet. Returns those. */
async function insertNew<Kind extends { readonly id: Id }>(
  tx: Context,
  table: Table,
  records: readonly Kind[],
  rowOf: (record: Kind) => RowValues,
): Promise<readonly Kind[]> {
  if (records.length === 0) return []
  const fresh = new Map(records.map((record) => [record.id, record]))
  const sql = `SELECT id FROM ${table.name} WHERE id IN ${tx.dialect.among('?1', 'id')}`
  for (const { id } of await tx.all<{ id: Id }>(sql, [[...fresh.keys()]])) fresh.delete(id)
  tx.later(tx.insert(table, [...fresh.values()].map(rowOf)))
  return [...fresh.values()]
}

/** Inserts events that are not there yet. */
export async function insertEvents(tx: Context, events: readonly EventRecord[]): Promise<void> {
  for (const { id, state, mode } of await insertNew(tx, tables.events, events, rowOfEvent)) {
    const isPending = state === 'pending'
    if (isPending) countPending(tx, mode === 'now' ? 0 : 1, 1)
    tx.changed('event', id, isPending ? 'pending' : 'consumed')
  }
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

/** Inserts deliveries that are not there yet. */
export async function insertDeliveries(tx: Context, deliveries: readonly DeliveryRecord[]): Promise<void> {
  for (const { id, state } of await insertNew(tx, tables.deliveries, deliveries, rowOfDelivery))
    tx.changed('delivery', id, state)
}

export async function updateDeliveries(tx: Context, deliveries: readonly DeliveryRecord[]): Promise<void> {
  tx.later(tx.update(tables.deliveries, ['state', 'channel', 'record'], deliveries.map(rowOfDelivery)))
  for (const { id, state } of deliveries) tx.changed('delivery', id, state)
}

/** Writes the fields of patches, in their order. @throws StoreError `BAD_ENTRY` if there is no such delivery */
export async function changeDeliveries(
  tx: Context,
  patches: readonly NonNullable<Effects['delivery']>[],
): Promise<void> {
  const ids = patches.map(({ id }) => id)
  const deliveries = await readRecords('deliveries', tx, tx.dialect, ids, tx.dialect.forUpdate)
  for (const patch of patches) {
    const delivery = deliveries.get(patch.id)
    if (delivery === undefined)
      throw new StoreError('BAD_ENTRY', 'an effect changes a delivery that does not exist')
    deliveries.set(patch.id, { ...delivery, ...patch })
  }
  await updateDeliveries(tx, [...deliveries.values()])
}

/** Erases the text of a delivery. */
export async function forgetDelivery(tx: Context, id: Id, at: number): Promise<void> {
  const delivery = await findRecord(tx, 'deliveries', id)
  if (delivery !== undefined)
    await updateDeliveries(tx, [{ ...delivery, text: '', forgottenAt: delivery.forgottenAt ?? at }])
}

/** Changes runs, and inserts the whole records of new ones. */
export async function writeRuns(tx: Context, patches: readonly RunPatch[]): Promise<void> {
  const fresh = new Map<Id, RunPatch>()
  for (const patch of await changeRuns(tx, patches)) {
    const run = { ...fresh.get(patch.id), ...patch }
    if (run.kind === undefined)
      throw new StoreError('BAD_ENTRY', 'an effect changes a run that does not exist')
    fresh.set(run.id, run)
  }
  const rows = [...fresh.values()].map((run) => rowOfRun(run as RunRecord))
  tx.later(tx.insert(tables.runs, rows))
  for (const { id, state = '', stage } of fresh.values()) tx.changed('run', id, state, stage)
}
