/**
 * Erases the contents of requests everywhere: bodies, traces, the texts of events, runs and deliveries, and turns of sessions. The
 * records stay, without their texts.
 */

import type { Context } from '../context.ts'
import { isId } from '../id.ts'
import type { Command, CommandResult, Id, RequestRecord, RunRecord } from '../port.ts'
import { findTask } from '../queue/tasks.ts'
import { doneBut, refuseOver } from '../results.ts'
import { heartbeatKey } from '../task-keys.ts'
import { dropKept } from './bounds.ts'
import { forgetJoined } from './coalescing.ts'
import { type EventRow, type RunRow, runOf, wholeEvent, wholeRun } from './rows.ts'
import { countPending, findRecord, forgetDelivery, forgetRun } from './runs.ts'
import { forgetTurn } from './sessions.ts'

type Forget = Command & { readonly type: 'forget' }

/** The runs and events that one request caused. */
interface Consequences {
  readonly runs: Map<Id, RunRecord>
  readonly events: Map<Id, EventRow>
}

/** The heartbeats that showed each event without success. Only the one that consumed an event is named by it. */
type ShowedBy = ReadonlyMap<Id, readonly Id[]>

/** Maximum number of requests that one command forgets. */
const maxForgotten = 500

export async function forgetRequests(tx: Context, { requests, at, by }: Forget): Promise<CommandResult> {
  refuseOver(requests.length, maxForgotten, 'requests')
  // A heartbeat that ends at this moment is waited for, and none begins: it would show forgotten contents.
  await tx.lock(['kind:heartbeat'])
  await findTask(tx, heartbeatKey)
  const showedBy = await unsuccessfulHeartbeats(tx, requests)
  const refused: { id: Id; reason: string }[] = []
  for (const id of requests) {
    const reason = await forgetRequest(tx, id, { at, by }, showedBy)
    if (reason !== undefined) refused.push({ id, reason })
  }
  return doneBut(requests.length, refused)
}

async function unsuccessfulHeartbeats({ all }: Context, requests: readonly Id[]): Promise<ShowedBy> {
  const showedBy = new Map<Id, Id[]>()
  const oldest = requests.filter(isId).toSorted()[0]
  if (oldest === undefined) return showedBy
  const rows = await all<RunRow>(
    `SELECT ${wholeRun} FROM runs WHERE state IN ('running', 'failed', 'timed-out', 'cancelled', 'parked')
     AND state <> 'queued' AND state <> 'succeeded' AND kind = 'heartbeat' AND id > ?1`,
    [oldest],
  )
  for (const { id, eventIds = [] } of rows.map(runOf))
    for (const event of eventIds) showedBy.set(event, [...(showedBy.get(event) ?? []), id])
  return showedBy
}

/** Returns why a request was not forgotten. */
async function forgetRequest(
  tx: Context,
  id: Id,
  { at, by }: Pick<Forget, 'at' | 'by'>,
  showedBy: ShowedBy,
): Promise<string | undefined> {
  const [row] = isId(id)
    ? await tx.all<{ outcome: string; kept: number | null; record: string }>(
        `SELECT outcome, kept, record FROM requests WHERE id = ?1 ${tx.dialect.forUpdate}`,
        [id],
      )
    : []
  if (row === undefined) return 'there is no such request on disk'
  const record: Pick<RequestRecord, 'actions'> = JSON.parse(row.record)
  const found = await follow(tx, record.actions, showedBy)
  const reason = await whyNotErase(tx, found)
  if (reason !== undefined) return reason
  for (const run of found.runs.values()) await eraseRun(tx, run, at)
  for (const [event, row] of found.events) await forgetEvent(tx, event, row, at)
  await dropKept(tx, [{ id, kept: row.kept }])
  const marked = { forgottenAt: at, ...(by !== undefined && { forgottenBy: by }), ...record }
  await tx.run('UPDATE requests SET record = ?1 WHERE id = ?2', [JSON.stringify(marked), id])
  tx.changed('request', id, row.outcome)
  return undefined
}

/** Follows a request to everything that shows something of it. */
async function follow(
  tx: Context,
  actions: RequestRecord['actions'],
  showedBy: ShowedBy,
): Promise<Consequences> {
  const found: Consequences = { runs: new Map(), events: new Map() }

  async function followRun(id: Id): Promise<void> {
    const run = found.runs.has(id) ? undefined : await findRecord(tx, 'runs', id)
    if (run === undefined) return
    found.runs.set(id, run)
    for (const { summaryEventId } of [run, ...(run.retries ?? [])])
      if (summaryEventId !== undefined) await followEvent(summaryEventId)
  }

  /** The heartbeat that consumed an event has shown its text, and so has one that failed before. */
  async function followEvent(id: Id): Promise<void> {
    if (found.events.has(id)) return
    const [event] = await tx.all<EventRow>(
      `SELECT ${wholeEvent} FROM events WHERE id = ?1 ${tx.dialect.forUpdate}`,
      [id],
    )
    if (event === undefined) return
    found.events.set(id, event)
    if (event.pending === null && event.consumed_by !== null) await followRun(event.consumed_by)
    for (const heartbeat of showedBy.get(id) ?? []) await followRun(heartbeat)
  }

  for (const { kind, id, duplicateOf } of actions) {
    // The id in a duplicate belongs to an earlier request.
    if (duplicateOf !== undefined) continue
    await (kind === 'agent' ? followRun(id) : followEvent(id))
  }
  return found
}

/** Returns why the runs and events of a request cannot be erased now. */
async function whyNotErase(tx: Context, { runs, events }: Consequences): Promise<string | undefined> {
  const heartbeat = await findTask(tx, heartbeatKey)
  for (const { id, kind, state, deliveryIds } of runs.values()) {
    const isOpen =
      state === 'queued' || state === 'running' || (await findTask(tx, `run:${id}`)) !== undefined
    if (isOpen && kind === 'heartbeat') return `the heartbeat ${id}, which shows it, is under way`
    if (isOpen) return `its run ${id} is ${state}`
    for (const delivery of deliveryIds)
      if ((await findRecord(tx, 'deliveries', delivery))?.state === 'pending')
        return `the delivery ${delivery} is not sent yet`
  }
  const isPending = [...events.values()].some(({ pending }) => pending !== null)
  const isClaimed = heartbeat !== undefined && heartbeat.leased_by !== null
  return isPending && isClaimed ? 'a heartbeat is under way' : undefined
}

async function eraseRun(tx: Context, { id, sessionKey, deliveryIds }: RunRecord, at: number): Promise<void> {
  await forgetRun(tx, id, at)
  await forgetJoined(tx, id)
  await forgetTurn(tx, sessionKey, id)
  for (const each of deliveryIds) await forgetDelivery(tx, each, at)
}

/** Erases the texts of an event. If it is pending it is consumed, so that no heartbeat shows an empty one. */
async function forgetEvent(tx: Context, id: Id, { pending, urgency, record }: EventRow, at: number) {
  await tx.run(
    `UPDATE events SET record = ?1, pending = NULL, forgotten_at = coalesce(forgotten_at, ?2),
       consumed_at = CASE pending WHEN 1 THEN ?2 ELSE coalesce(consumed_at, ?2) END, consumed_by = CASE pending WHEN 1 THEN NULL ELSE consumed_by END
     WHERE id = ?3`,
    [JSON.stringify({ ...JSON.parse(record), text: '', prompt: '' }), at, id],
  )
  if (pending !== null) countPending(tx, urgency, -1)
  tx.changed('event', id, 'consumed')
}
