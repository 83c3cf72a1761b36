/**
 * Inserts an action that is no duplicate. It becomes an event, a run of its own or a part of a run that waits; an action
 * that must not wait for its session becomes a run that has ended.
 */

import type { Acceptance, Id, RunError, RunRecord } from '../../port.ts'
import { blobOfId } from '../database/id-blob.ts'
import type { Parts } from '../parts.ts'
import type { InsertionConditions, PlainAction } from './flat-entry.ts'

export type InsertedAction = Exclude<Acceptance['actions'][number], { original: Id }>

const busyError: RunError = {
  code: 'BUSY',
  message: 'another run of its session is queued or under way',
  retryable: true,
}

export function createInsertion({ db, counters, schedule, runs, coalescing, changed }: Parts) {
  const insertRun = db.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?)')
  const insertEvent = db.prepare('INSERT INTO events VALUES (?, ?, ?)')
  const insertInbox = db.prepare('INSERT INTO inbox VALUES (?, ?)')
  const selectRun = db.prepare('SELECT state, record FROM runs WHERE id = ?')
  const selectEvent = db.prepare('SELECT 1 FROM events WHERE id = ?')

  function insert(action: PlainAction): InsertedAction {
    const id = blobOfId(action.id)
    if (action.type === 'run') {
      insertRun.run(id, action.kind, action.state, action.session, action.record)
      changed('run', action.id, action.state, 'accepted')
    } else {
      const rank = action.kind === 'now' ? 0 : 1
      insertEvent.run(id, action.state, action.record)
      insertInbox.run(rank, id)
      counters.pending += 1
      if (rank === 0) counters.pendingNow += 1
      changed('event', action.id, action.state)
    }
    for (const task of action.tasks) schedule.add(task)
    return { outcome: 'accepted', id: action.id }
  }

  function insertUnderConditions(
    action: PlainAction,
    conditions: InsertionConditions,
    request: Uint8Array,
    now: number,
  ): InsertedAction {
    const { id } = action
    const { join, isRejectedWhenBusy } = conditions
    const run = join && coalescing.join(id, join, request, now)
    if (run !== undefined) {
      changed('run', run, 'queued', 'accepted')
      return { outcome: 'joined', id: run }
    }
    if (isRejectedWhenBusy && meetsOpenTask(action)) return reject(action, now)
    if (join !== undefined) coalescing.begin(id, join, now)
    return insert(action)
  }

  function meetsOpenTask({ tasks }: PlainAction): boolean {
    return tasks.some(({ lane }) => lane !== undefined && schedule.isOccupied(lane))
  }

  /** Records the run as cancelled, without a task. */
  function reject(action: PlainAction, now: number): InsertedAction {
    const run: RunRecord = {
      ...JSON.parse(action.record),
      state: 'cancelled',
      stage: 'cancelled',
      error: busyError,
      cancelledAt: now,
    }
    runs.insert(run)
    return { outcome: 'busy', id: run.id }
  }

  function wasBusy(row: { state: string; record: string }): boolean {
    return row.state === 'cancelled' && (JSON.parse(row.record) as RunRecord).error?.code === busyError.code
  }

  return {
    insert: (action: PlainAction, request: Uint8Array, now: number): InsertedAction =>
      action.conditions === null
        ? insert(action)
        : insertUnderConditions(action, action.conditions, request, now),

    /** Returns what the action became earlier, if it became a record of its own. */
    insertedBefore({ type, id }: PlainAction): InsertedAction | undefined {
      const blob = blobOfId(id)
      if (type === 'event') return selectEvent.get(blob) && { outcome: 'accepted', id }
      const row = selectRun.get(blob) as { state: string; record: string } | undefined
      return row && { outcome: wasBusy(row) ? 'busy' : 'accepted', id }
    },
  }
}
