/**
 * Erases what requests brought, wherever it went: bodies, traces, the texts of events, runs and deliveries, and turns of sessions.
 * The records stay, without their texts.
 */

import {
  doneBut,
  follow,
  refuseOverMostForgotten,
  type ShowedBy,
  type ShownEvent,
  showedByOf,
  type Traces,
  whyNotErase,
  withoutTexts,
} from '../decisions.ts'
import { isId } from '../id.ts'
import type { Command, CommandResult, DeliveryRecord, Id, RequestRecord, RunRecord } from '../port.ts'
import { heartbeatKey } from '../tasks.ts'
import type { Changing } from './parts.ts'
import {
  columnOfText,
  type DeliveryRow,
  deliveryColumns,
  deliveryOf,
  type EventRow,
  type RunRow,
  rowOfDelivery,
  runColumns,
  runOf,
} from './rows.ts'
import { freeLanes, heartbeatLane, lockLanes } from './schedule.ts'

type FoundEvent = Pick<EventRow, 'id' | 'urgent' | 'draft'> & ShownEvent

/** A run with its row, from which its texts are erased. */
type FoundRun = RunRecord & { readonly row: RunRow }

interface RequestRow {
  readonly id: Id
  readonly outcome: RequestRecord['outcome']
  /** JSON, with the actions. */
  readonly more: string
}

/** What is erased together. Several requests may have come to the same run. */
interface Erased {
  readonly requests: Map<Id, RequestRow>
  readonly runs: Map<Id, FoundRun>
  readonly events: Map<Id, FoundEvent>
}

export async function forgetRequests(
  { requests: ids, at, by }: Command & { readonly type: 'forget' },
  changing: Changing,
): Promise<CommandResult> {
  refuseOverMostForgotten(ids.length)
  const known = [...new Set(ids.filter(isId))].toSorted()
  const requests = new Map((await lockRequests(changing, known)).map((row) => [row.id, row]))
  // Until the end no heartbeat is scheduled, claimed or settled, on whatever node.
  lockLanes(changing, [heartbeatLane])
  const heartbeat = await changing.schedule.lock([heartbeatKey])
  freeLanes(changing, [heartbeatLane])
  const found = await load(changing, requests, heartbeat, await unsuccessfulHeartbeats(changing, known))
  const erased: Erased = { requests: new Map(), runs: new Map(), events: new Map() }
  const refused: { id: Id; reason: string }[] = []
  for (const id of ids) {
    const request = requests.get(id)
    if (request === undefined) {
      refused.push({ id, reason: 'there is no such request on disk' })
      continue
    }
    const consequences = follow(actionsOf(request), found.traces)
    const reason = whyNotErase(consequences, found.taskState, found.isUnsent)
    if (reason !== undefined) {
      refused.push({ id, reason })
      continue
    }
    erased.requests.set(id, request)
    for (const [run, record] of consequences.runs) erased.runs.set(run, record as FoundRun)
    for (const [event, shown] of consequences.events) erased.events.set(event, shown)
  }
  eraseEvents(changing, erased, at)
  await eraseRuns(changing, erased, at)
  eraseDeliveries(changing, erased, found.deliveries, at)
  await eraseRequests(changing, erased, { forgottenAt: at, forgottenBy: by })
  return doneBut(ids.length, refused)
}

function actionsOf({ more }: RequestRow): RequestRecord['actions'] {
  return (JSON.parse(more) as RequestRecord).actions
}

function lockRequests({ query }: Changing, ids: readonly Id[]): Promise<RequestRow[]> {
  return query<RequestRow>(
    'SELECT id, outcome, more FROM requests WHERE id = ANY($1) ORDER BY id FOR UPDATE',
    [ids],
  )
}

/** Finds heartbeats by the events of these requests. */
async function unsuccessfulHeartbeats({ query }: Changing, requests: readonly Id[]): Promise<ShowedBy> {
  const [oldest] = requests
  if (oldest === undefined) return new Map()
  // With the second condition PostgreSQL uses the partial index, so that the succeeded runs are not walked through.
  const rows = await query<RunRow>(
    `SELECT ${runColumns.join(', ')} FROM runs
     WHERE state IN ('running', 'failed', 'timed-out', 'cancelled', 'parked') AND state <> 'queued' AND state <> 'succeeded'
     AND kind = 'heartbeat' AND id > $1`,
    [oldest],
  )
  return showedByOf(rows.map(runOf))
}

/**
 * Follows all requests to what shows something of them, and locks it. What is not loaded yet is looked up, all of it with a few
 * statements, and then the way is followed again, until it ends.
 */
async function load(
  { query, schedule }: Changing,
  requests: ReadonlyMap<Id, RequestRow>,
  heartbeat: ReadonlyMap<string, 'open' | 'claimed'>,
  showedBy: ShowedBy,
) {
  const runs = new Map<Id, FoundRun | undefined>()
  const events = new Map<Id, FoundEvent | undefined>()
  const states = new Map(heartbeat)
  let missing = { runs: new Set<Id>(), events: new Set<Id>() }
  const traces: Traces<FoundEvent> = {
    run: (id) => (runs.has(id) ? runs.get(id) : void missing.runs.add(id)),
    event: (id) => (events.has(id) ? events.get(id) : void missing.events.add(id)),
    showedBy,
  }

  async function loadMissing(): Promise<void> {
    const [wantedRuns, wantedEvents] = [[...missing.runs], [...missing.events]]
    for (const id of wantedRuns) runs.set(id, undefined)
    for (const id of wantedEvents) events.set(id, undefined)
    // Tasks come before runs, as in every other transaction.
    for (const [key, state] of await schedule.lock(wantedRuns.map((id) => `run:${id}`)))
      states.set(key, state)
    const [runRows, eventRows] = await Promise.all([
      query<RunRow>(`SELECT ${runColumns.join(', ')} FROM runs WHERE id = ANY($1) ORDER BY id FOR UPDATE`, [
        wantedRuns,
      ]),
      query<EventRow>(
        'SELECT id, pending, urgent, consumed_by, draft FROM events WHERE id = ANY($1) ORDER BY id FOR UPDATE',
        [wantedEvents],
      ),
    ])
    for (const row of runRows) runs.set(row.id, { ...runOf(row), row })
    for (const { consumed_by: consumer, pending, ...row } of eventRows)
      events.set(row.id, { ...row, isPending: pending, consumedBy: consumer ?? undefined })
  }

  for (;;) {
    missing = { runs: new Set(), events: new Set() }
    for (const request of requests.values()) follow(actionsOf(request), traces)
    if (missing.runs.size + missing.events.size === 0) break
    await loadMissing()
  }
  const rows = await query<DeliveryRow>(
    `SELECT ${deliveryColumns.join(', ')} FROM deliveries WHERE id = ANY($1) ORDER BY id FOR UPDATE`,
    [[...runs.values()].flatMap((run) => run?.deliveryIds ?? [])],
  )
  const deliveries: ReadonlyMap<Id, DeliveryRecord> = new Map(rows.map((row) => [row.id, deliveryOf(row)]))
  return {
    traces,
    deliveries,
    taskState: (key: string) => states.get(key) ?? 'gone',
    isUnsent: (id: Id) => deliveries.get(id)?.state === 'pending',
  }
}

async function eraseRequests(
  { query, send, changed, counted }: Changing,
  { requests }: Erased,
  marks: Pick<RequestRecord, 'forgottenAt' | 'forgottenBy'>,
): Promise<void> {
  const rows = [...requests.values()]
  const ids = rows.map(({ id }) => id)
  const more = rows.map((row) => JSON.stringify({ ...marks, ...JSON.parse(row.more) }))
  send(
    `UPDATE requests SET more = forgotten.more FROM unnest($1::uuid[], $2::text[]) AS forgotten (id, more)
     WHERE requests.id = forgotten.id`,
    [ids, more],
  )
  const gone = await query<{ bytes: number }>('DELETE FROM kept WHERE request = ANY($1) RETURNING bytes', [
    ids,
  ])
  for (const { bytes } of gone) counted('bodyBytes', -bytes)
  for (const { id, outcome } of rows) changed('request', id, outcome)
}

/** An event that is pending is consumed, so that no heartbeat shows an empty one. */
function eraseEvents({ send, changed, counted }: Changing, { events }: Erased, at: number): void {
  const rows = [...events.values()]
  send(
    `UPDATE events SET draft = forgotten.draft, pending = false, consumed_at = coalesce(consumed_at, $3),
     forgotten_at = coalesce(forgotten_at, $3)
     FROM unnest($1::uuid[], $2::text[]) AS forgotten (id, draft) WHERE events.id = forgotten.id`,
    [
      rows.map(({ id }) => id),
      rows.map(({ draft }) => JSON.stringify({ ...JSON.parse(draft), text: '', prompt: '' })),
      at,
    ],
  )
  for (const { id, isPending, urgent } of rows) {
    if (isPending) counted('pending', -1)
    if (isPending && urgent) counted('pendingNow', -1)
    changed('event', id, 'consumed')
  }
}

async function eraseRuns({ query, send, changed }: Changing, { runs }: Erased, at: number): Promise<void> {
  const all = [...runs.values()]
  const ids = all.map(({ id }) => id)
  send(
    `UPDATE runs SET asked = forgotten.asked, changes = forgotten.changes
     FROM unnest($1::uuid[], $2::text[], $3::text[]) AS forgotten (id, asked, changes) WHERE runs.id = forgotten.id`,
    [
      ids,
      all.map(({ row }) =>
        JSON.stringify({ ...withoutTexts(JSON.parse(row.asked)), message: '', prompt: '' }),
      ),
      all.map(({ row }) => {
        const { message: _message, prompt: _prompt, ...changes } = JSON.parse(row.changes ?? '{}')
        return JSON.stringify({ forgottenAt: at, ...withoutTexts(changes) })
      }),
    ],
  )
  send('UPDATE joined SET message = NULL, prompt = NULL, size = 0 WHERE run = ANY($1)', [ids])
  for (const { id, state, stage } of all) changed('run', id, state, stage)
  // Models refuse empty messages, so a turn goes as a whole.
  const gone = await query<{ session: string }>(
    `DELETE FROM turns USING unnest($1::text[], $2::uuid[]) AS forgotten (session, turn)
     WHERE turns.session = forgotten.session AND turns.turn = forgotten.turn RETURNING turns.session`,
    [all.map(({ sessionKey }) => columnOfText(sessionKey)), ids],
  )
  subtractTurns(
    send,
    gone.map(({ session }) => session),
  )
}

function eraseDeliveries(
  { send, changed }: Changing,
  { runs }: Erased,
  deliveries: ReadonlyMap<Id, DeliveryRecord>,
  at: number,
): void {
  const ids = new Set([...runs.values()].flatMap(({ deliveryIds }) => deliveryIds))
  const rows = [...ids].flatMap((id) => {
    const delivery = deliveries.get(id)
    return delivery === undefined ? [] : [rowOfDelivery({ forgottenAt: at, ...delivery, text: '' })]
  })
  send(
    `UPDATE deliveries SET text = '', record = forgotten.record
     FROM unnest($1::uuid[], $2::text[]) AS forgotten (id, record) WHERE deliveries.id = forgotten.id`,
    [rows.map(({ id }) => id), rows.map(({ record }) => record)],
  )
  for (const { id, state } of rows) changed('delivery', id, state)
}

/** Counts turns that are gone, each with the column of its session. A session without turns has no row. */
export function subtractTurns(send: Changing['send'], sessions: readonly string[]): void {
  if (sessions.length === 0) return
  const names = [...new Set(sessions)].toSorted()
  send('SELECT 1 FROM sessions WHERE session = ANY($1) ORDER BY session FOR UPDATE', [names])
  send(
    `UPDATE sessions SET turns = turns - gone.count FROM (
       SELECT session, count(*) AS count FROM unnest($1::text[]) AS session GROUP BY session
     ) AS gone WHERE sessions.session = gone.session`,
    [sessions],
  )
  send('DELETE FROM sessions WHERE session = ANY($1) AND turns <= 0', [names])
}
