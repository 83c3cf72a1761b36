/** Applies what claims change: runs, session history, consumed events, deliveries, new tasks. All effects of a batch are written together. */

import {
  type DeliveryRecord,
  type Effects,
  type EventRecord,
  type Id,
  type RunRecord,
  StoreError,
} from '../port.ts'
import { firstRunOf } from '../tasks.ts'
import type { Changing } from './parts.ts'
import {
  changedRun,
  columnOfText,
  type DeliveryRow,
  deliveryColumns,
  deliveryOf,
  eventColumns,
  type RunRow,
  rowOfDelivery,
  rowOfEvent,
  rowOfRun,
  runColumns,
  runOf,
} from './rows.ts'
import { spend } from './spending.ts'

type Turn = NonNullable<Effects['append']>[number]
type OpenState = Pick<RunRow, 'id' | 'state' | 'stage' | 'changes'>

/** The types of columns, for the statements that write many rows. */
const runTypes = ['uuid', 'text', 'text', 'text', 'text', 'bigint', 'text', 'text']
const eventTypes = ['uuid', 'text', 'boolean', 'boolean', 'text', 'bigint', 'bigint', 'uuid', 'bigint']
const deliveryTypes = ['uuid', 'text', 'text', 'text', 'text']

/** Writes SQL that inserts rows given as one array for each column. */
export function insertMany(table: string, columns: readonly string[], types: readonly string[]): string {
  const names = columns.join(', ')
  return `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')}) AS new (${names})`
}

/** Turns rows into one array for each column. */
export function columnsOf<Row>(rows: readonly Row[], columns: readonly (keyof Row)[]): unknown[][] {
  return columns.map((column) => rows.map((row) => row[column]))
}

const insertRunsSql = insertMany('runs', runColumns, runTypes)
const insertEventsSql = insertMany('events', eventColumns, eventTypes)
const insertDeliveriesSql = insertMany('deliveries', deliveryColumns, deliveryTypes)

/** Inserts runs. The transaction fails if one of them is there. */
export function insertRuns({ send, changed }: Changing, runs: readonly RunRecord[]): void {
  if (runs.length === 0) return
  send(insertRunsSql, columnsOf(runs.map(rowOfRun), runColumns))
  for (const { id, state, stage } of runs) changed('run', id, state, stage)
}

/** Inserts events of an entry. The transaction fails if one of them is there. */
export function insertNewEvents(tx: Changing, events: readonly EventRecord[]): void {
  if (events.length === 0) return
  tx.send(insertEventsSql, columnsOf(events.map(rowOfEvent), eventColumns))
  noteEvents(tx, events)
}

/** Inserts events, apart from those that are there already. */
export async function insertEvents(tx: Changing, events: readonly EventRecord[]): Promise<void> {
  if (events.length === 0) return
  const rows = await tx.query<{ id: Id }>(
    `${insertEventsSql} ON CONFLICT (id) DO NOTHING RETURNING id`,
    columnsOf(events.map(rowOfEvent), eventColumns),
  )
  const inserted = new Set(rows.map(({ id }) => id))
  noteEvents(
    tx,
    events.filter(({ id }) => inserted.has(id)),
  )
}

function noteEvents({ counted, changed }: Changing, events: readonly EventRecord[]): void {
  const pending = events.filter(({ state }) => state === 'pending')
  counted('pending', pending.length)
  counted('pendingNow', pending.filter(({ mode }) => mode === 'now').length)
  for (const { id, state } of events) changed('event', id, state)
}

/** Applies the effects of several claims in their order. @throws StoreError `BAD_ENTRY` */
export async function applyEffects(tx: Changing, all: readonly Effects[]): Promise<void> {
  if (all.every((effects) => Object.keys(effects).length === 0)) return
  const runs = await lockRuns(tx, all)
  const deliveries = await lockDeliveries(tx, all, runs)
  const [newRuns, changedRuns] = [new Map<Id, RunRecord>(), new Set<OpenState>()]
  const [newDeliveries, changedDeliveries] = [new Map<Id, DeliveryRecord>(), new Set<Id>()]

  function changeRun(patch: NonNullable<Effects['run']>): void {
    const row = runs.get(patch.id)
    const fresh = newRuns.get(patch.id)
    if (fresh !== undefined) newRuns.set(patch.id, { ...fresh, ...patch })
    else if (row !== undefined) {
      Object.assign(row, changedRun(row, patch))
      changedRuns.add(row)
      tx.changed('run', row.id, row.state, row.stage)
    } else if (patch.kind !== undefined) newRuns.set(patch.id, patch as RunRecord)
    else throw new StoreError('BAD_ENTRY', 'an effect changes a run that does not exist')
  }

  function changeDelivery(patch: NonNullable<Effects['delivery']>): void {
    const delivery = deliveries.get(patch.id)
    if (delivery === undefined)
      throw new StoreError('BAD_ENTRY', 'an effect changes a delivery that does not exist')
    deliveries.set(patch.id, { ...delivery, ...patch })
    if (newDeliveries.has(patch.id)) newDeliveries.set(patch.id, { ...delivery, ...patch })
    else changedDeliveries.add(patch.id)
  }

  /** A run's deliveries go on lanes of their own and end in any order, so only the last one completes the run. */
  function settleDelivered({ run: id, at }: NonNullable<Effects['delivered']>): void {
    const row = runs.get(id)
    if (row === undefined || deliveryIdsOf(row).some(isOpen)) return
    changeRun({ id, stage: 'delivered', deliveredAt: at })
  }

  function isOpen(id: Id): boolean {
    const state = deliveries.get(id)?.state
    return state === 'pending' || state === 'parked'
  }

  for (const effects of all) {
    if (effects.run !== undefined) changeRun(effects.run)
    for (const delivery of effects.deliveries ?? []) {
      if (deliveries.has(delivery.id)) continue
      deliveries.set(delivery.id, delivery)
      newDeliveries.set(delivery.id, delivery)
    }
    if (effects.delivery !== undefined) changeDelivery(effects.delivery)
    if (effects.delivered !== undefined) settleDelivered(effects.delivered)
  }

  insertRuns(tx, [...newRuns.values()])
  updateRuns(tx, [...changedRuns])
  appendTurns(
    tx,
    all.flatMap(({ append }) => append ?? []),
  )
  for (const { compact } of all) if (compact !== undefined) await compactSession(tx, compact)
  for (const { runnerState } of all) if (runnerState !== undefined) keepState(tx, runnerState)
  const written = [
    consumeEvents(
      tx,
      all.flatMap(({ consume }) => consume ?? []),
    ),
    insertEvents(
      tx,
      all.flatMap(({ events }) => events ?? []),
    ),
    insertDeliveries(tx, [...newDeliveries.values()]),
  ]
  updateDeliveries(
    tx,
    [...changedDeliveries].flatMap((id) => deliveries.get(id) ?? []),
  )
  await Promise.all([...written, tx.schedule.add(all.flatMap(({ tasks }) => tasks ?? []))])
  // All nodes add to these rows, so they are locked last: a transaction that holds one waits for no other row.
  spend(
    tx.send,
    all.flatMap((effects) => effects.spend ?? []),
  )
}

async function lockRuns(
  { query }: Changing,
  all: readonly Effects[],
): Promise<Map<Id, OpenState & { asked: string }>> {
  const ids = new Set(
    all.flatMap(({ run, delivered }) => [...(run ? [run.id] : []), ...(delivered ? [delivered.run] : [])]),
  )
  if (ids.size === 0) return new Map()
  const needsIds = all.some(({ delivered }) => delivered !== undefined)
  const rows = await query<OpenState & { asked: string }>(
    `SELECT id, state, stage, changes, ${needsIds ? 'asked' : "'{}' AS asked"} FROM runs WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE`,
    [[...ids]],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

function deliveryIdsOf({ asked, changes }: { asked?: string; changes: string | null }): readonly Id[] {
  const { deliveryIds = [] }: Partial<RunRecord> = {
    ...JSON.parse(asked ?? '{}'),
    ...(changes !== null && JSON.parse(changes)),
  }
  return deliveryIds
}

/** Locks the deliveries that change. Those that only have to be looked at are read after their runs were locked. */
async function lockDeliveries(
  { query }: Changing,
  all: readonly Effects[],
  runs: ReadonlyMap<Id, { asked?: string; changes: string | null }>,
): Promise<Map<Id, DeliveryRecord>> {
  const ids = all.flatMap(({ delivery }) => (delivery ? [delivery.id] : []))
  const given = all.flatMap(({ deliveries = [] }) => deliveries.map(({ id }) => id))
  const others = all.flatMap(({ delivered, run }) => {
    const row = delivered && runs.get(delivered.run)
    return [...(row ? deliveryIdsOf(row) : []), ...(delivered && run?.deliveryIds ? run.deliveryIds : [])]
  })
  const wanted = [...new Set([...ids, ...given, ...others])]
  if (wanted.length === 0) return new Map()
  const rows = await query<DeliveryRow>(
    `SELECT ${deliveryColumns.join(', ')} FROM deliveries WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE`,
    [wanted],
  )
  return new Map(rows.map((row) => [row.id, deliveryOf(row)]))
}

function updateRuns({ send }: Changing, rows: readonly OpenState[]): void {
  if (rows.length === 0) return
  send(
    `UPDATE runs AS r SET state = c.state, stage = c.stage, changes = c.changes
     FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS c (id, state, stage, changes) WHERE r.id = c.id`,
    columnsOf(rows, ['id', 'state', 'stage', 'changes']),
  )
}

async function insertDeliveries(tx: Changing, deliveries: readonly DeliveryRecord[]): Promise<void> {
  if (deliveries.length === 0) return
  const rows = await tx.query<{ id: Id; state: string }>(
    `${insertDeliveriesSql} ON CONFLICT (id) DO NOTHING RETURNING id, state`,
    columnsOf(deliveries.map(rowOfDelivery), deliveryColumns),
  )
  for (const { id, state } of rows) tx.changed('delivery', id, state)
}

function updateDeliveries({ send, changed }: Changing, deliveries: readonly DeliveryRecord[]): void {
  if (deliveries.length === 0) return
  send(
    `UPDATE deliveries AS d SET state = c.state, channel = c.channel, text = c.text, record = c.record
     FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[]) AS c (id, state, channel, text, record)
     WHERE d.id = c.id`,
    columnsOf(deliveries.map(rowOfDelivery), deliveryColumns),
  )
  for (const { id, state } of deliveries) changed('delivery', id, state)
}

/** Appends turns, each once, however often it is sent, and counts them in the row of their session. */
function appendTurns({ send }: Changing, turns: readonly Turn[]): void {
  const rows = turns.flatMap(({ session, turn, messages }) => {
    const at = messages.at(-1)?.at
    return at === undefined ? [] : [{ session, turn, at, messages: JSON.stringify(messages) }]
  })
  if (rows.length === 0) return
  const sessions = [...new Set(rows.map(({ session }) => session))]
  send(
    `WITH fresh AS (
      INSERT INTO turns (session, turn, at, messages)
      SELECT session, turn, at, messages FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::text[])
        WITH ORDINALITY AS new (session, turn, at, messages, place) ORDER BY place
      ON CONFLICT (session, turn) DO NOTHING RETURNING session, seq, at
    )
    INSERT INTO sessions AS s (session, turns, last_at, made_up)
    SELECT f.session, count(*), (array_agg(f.at ORDER BY f.seq DESC))[1], named.made_up
    FROM fresh AS f JOIN unnest($5::text[], $6::boolean[]) AS named (session, made_up) ON named.session = f.session
    GROUP BY f.session, named.made_up ORDER BY f.session
    ON CONFLICT (session) DO UPDATE SET turns = s.turns + excluded.turns, last_at = excluded.last_at`,
    [
      rows.map(({ session }) => columnOfText(session)),
      rows.map(({ turn }) => turn),
      rows.map(({ at }) => at),
      rows.map(({ messages }) => messages),
      sessions.map(columnOfText),
      sessions.map((session) => firstRunOf(session) !== undefined),
    ],
  )
}

/** Has no effect if the session has no such turn, or no longer has it. */
async function compactSession(
  { query, send }: Changing,
  { session, through, summary }: NonNullable<Effects['compact']>,
): Promise<void> {
  const column = columnOfText(session)
  const removed = await query<{ seq: number }>(
    `DELETE FROM turns WHERE session = $1 AND seq <= (SELECT seq FROM turns AS t WHERE t.session = $1 AND t.turn = $2) RETURNING seq`,
    [column, through],
  )
  if (removed.length === 0) return
  const at = summary?.messages.at(-1)?.at
  const isSummed = summary !== undefined && at !== undefined
  if (isSummed) {
    // The place that just became free comes before all others.
    const place = Math.max(...removed.map(({ seq }) => seq))
    send('INSERT INTO turns (session, seq, turn, at, messages) VALUES ($1, $2, $3, $4, $5)', [
      column,
      place,
      summary.turn,
      at,
      JSON.stringify(summary.messages),
    ])
  }
  send('UPDATE sessions SET turns = turns - $2 WHERE session = $1', [
    column,
    removed.length - (isSummed ? 1 : 0),
  ])
  send('DELETE FROM sessions WHERE session = $1 AND turns <= 0', [column])
}

function keepState(
  { send, now }: Changing,
  { session, runner, state }: NonNullable<Effects['runnerState']>,
): void {
  const key = [columnOfText(session), columnOfText(runner)]
  if (state === undefined) send('DELETE FROM runner_states WHERE session = $1 AND runner = $2', key)
  else
    send(
      `INSERT INTO runner_states (session, runner, at, state) VALUES ($1, $2, $3, $4)
       ON CONFLICT (session, runner) DO UPDATE SET at = excluded.at, state = excluded.state`,
      [...key, now, columnOfText(state)],
    )
}

/** An event that several heartbeats have shown was consumed by the first of them. */
async function consumeEvents(
  { query, counted, changed }: Changing,
  all: readonly NonNullable<Effects['consume']>[],
): Promise<void> {
  const first = new Map<Id, { readonly by: Id; readonly at: number }>()
  for (const { by, at, events } of all) for (const id of events) if (!first.has(id)) first.set(id, { by, at })
  const rows = [...first].sort(([a], [b]) => (a < b ? -1 : 1))
  if (rows.length === 0) return
  const consumed = await query<{ id: Id; urgent: boolean }>(
    `UPDATE events AS e SET pending = false, consumed_at = c.at, consumed_by = c.by
     FROM unnest($1::uuid[], $2::bigint[], $3::uuid[]) AS c (id, at, by) WHERE e.id = c.id AND e.pending
     RETURNING e.id, e.urgent`,
    [rows.map(([id]) => id), rows.map(([, { at }]) => at), rows.map(([, { by }]) => by)],
  )
  counted('pending', -consumed.length)
  counted('pendingNow', -consumed.filter(({ urgent }) => urgent).length)
  for (const { id } of consumed) changed('event', id, 'consumed')
}

/** Returns a run, whatever is wanted of it. */
export async function findRun({ query }: Pick<Changing, 'query'>, id: Id): Promise<RunRecord | undefined> {
  const [row] = await query<RunRow>(`SELECT ${runColumns.join(', ')} FROM runs WHERE id = $1`, [id])
  return row && runOf(row)
}
