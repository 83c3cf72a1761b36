/**
 * Erases what requests brought, wherever it went: bodies, traces, the texts of events, runs and deliveries, and turns of sessions. The
 * records stay, without their texts.
 */

import type { Context } from '../context.ts'
import {
  type Consequences,
  doneBut,
  refuseOverMostForgotten,
  type ShowedBy,
  type ShownEvent,
  showedByOf,
  whyNotErase,
} from '../decisions.ts'
import { isId } from '../id.ts'
import type { Command, CommandResult, Id, RequestRecord, RunRecord } from '../port.ts'
import { findTask, stateOf, type TaskState } from '../queue/tasks.ts'
import { heartbeatKey } from '../tasks.ts'
import { dropKept } from './bounds.ts'
import { forgetJoined } from './coalescing.ts'
import { type RunRow, runOf, wholeRun } from './rows.ts'
import { countPending, findDelivery, findRun, forgetDelivery, forgetRun } from './runs.ts'
import { forgetTurn } from './sessions.ts'

type Forget = Command & { readonly type: 'forget' }

interface FoundEvent extends ShownEvent {
  readonly id: Id
  readonly urgency: number
}

export async function forgetRequests(tx: Context, { requests, at, by }: Forget): Promise<CommandResult> {
  refuseOverMostForgotten(requests.length)
  // A heartbeat that ends at this moment is waited for, and none begins: it would show what is forgotten.
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

/** Finds heartbeats by the events that they showed without success. */
async function unsuccessfulHeartbeats({ all }: Context, requests: readonly Id[]): Promise<ShowedBy> {
  const oldest = requests.filter(isId).toSorted()[0]
  if (oldest === undefined) return new Map()
  const rows = await all<RunRow>(
    `SELECT ${wholeRun} FROM runs WHERE state IN ('running', 'failed', 'timed-out', 'cancelled', 'parked')
     AND state <> 'queued' AND state <> 'succeeded' AND kind = 'heartbeat' AND id > ?1`,
    [oldest],
  )
  return showedByOf(rows.map(runOf))
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
  const states = await taskStates(tx, [...found.runs.keys()])
  const unsent = await unsentOf(tx, found.runs.values())
  const reason = whyNotErase(
    found,
    (key) => states.get(key) ?? 'gone',
    (delivery) => unsent.has(delivery),
  )
  if (reason !== undefined) return reason
  for (const run of found.runs.values()) await eraseRun(tx, run, at)
  for (const event of found.events.values()) await forgetEvent(tx, event, at)
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
): Promise<Consequences<FoundEvent>> {
  const found: Consequences<FoundEvent> = { runs: new Map(), events: new Map() }

  async function followRun(id: Id): Promise<void> {
    const run = found.runs.has(id) ? undefined : await findRun(tx, id)
    if (run === undefined) return
    found.runs.set(id, run)
    for (const { summaryEventId } of [run, ...(run.retries ?? [])])
      if (summaryEventId !== undefined) await followEvent(summaryEventId)
  }

  /** The heartbeat that consumed an event has shown its text, and so has one that failed before. */
  async function followEvent(id: Id): Promise<void> {
    const event = found.events.has(id) ? undefined : await shownEvent(tx, id)
    if (event === undefined) return
    found.events.set(id, event)
    if (event.consumedBy !== undefined) await followRun(event.consumedBy)
    for (const heartbeat of showedBy.get(id) ?? []) await followRun(heartbeat)
  }

  for (const { kind, id, duplicateOf } of actions) {
    // What a duplicate names belongs to an earlier request.
    if (duplicateOf !== undefined) continue
    await (kind === 'agent' ? followRun(id) : followEvent(id))
  }
  return found
}

async function shownEvent(tx: Context, id: Id): Promise<FoundEvent | undefined> {
  const [row] = await tx.all<{ pending: 1 | null; urgency: number; consumed_by: Id | null }>(
    `SELECT pending, urgency, consumed_by FROM events WHERE id = ?1 ${tx.dialect.forUpdate}`,
    [id],
  )
  return (
    row && {
      id,
      urgency: row.urgency,
      isPending: row.pending !== null,
      consumedBy: row.consumed_by ?? undefined,
    }
  )
}

/** The states of the tasks of runs, and of the heartbeat. */
async function taskStates(tx: Context, runs: readonly Id[]): Promise<ReadonlyMap<string, TaskState>> {
  const states = new Map<string, TaskState>()
  for (const key of [heartbeatKey, ...runs.map((id) => `run:${id}`)])
    states.set(key, stateOf(await findTask(tx, key)))
  return states
}

async function unsentOf(tx: Context, runs: Iterable<RunRecord>): Promise<ReadonlySet<Id>> {
  const unsent = new Set<Id>()
  for (const { deliveryIds } of runs)
    for (const id of deliveryIds) if ((await findDelivery(tx, id))?.state === 'pending') unsent.add(id)
  return unsent
}

async function eraseRun(tx: Context, { id, sessionKey, deliveryIds }: RunRecord, at: number): Promise<void> {
  await forgetRun(tx, id, at)
  await forgetJoined(tx, id)
  await forgetTurn(tx, sessionKey, id)
  for (const each of deliveryIds) await forgetDelivery(tx, each, at)
}

/** Erases the texts of an event. If it is pending it is consumed, so that no heartbeat shows an empty one. */
async function forgetEvent(tx: Context, { id, isPending, urgency }: FoundEvent, at: number): Promise<void> {
  const [row] = await tx.all<{ record: string }>('SELECT record FROM events WHERE id = ?1', [id])
  const record = { ...JSON.parse(row?.record ?? '{}'), text: '', prompt: '' }
  await tx.run(
    `UPDATE events SET record = ?1, pending = NULL, consumed_at = coalesce(consumed_at, ?2), forgotten_at = coalesce(forgotten_at, ?2)
     WHERE id = ?3`,
    [JSON.stringify(record), at, id],
  )
  if (isPending) countPending(tx, urgency, -1)
  tx.changed('event', id, 'consumed')
}
