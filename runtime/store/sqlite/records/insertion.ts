/**
 * Inserts an action that is no duplicate. It becomes an event, a run of its own or a part of a run that waits; an action
 * that must not wait for its session becomes a run that has ended.
 */

import type { Acceptance, Id, RunError } from '../../port.ts'
import { blobOfId } from '../database/ids.ts'
import type { Parts } from '../parts.ts'
import type { InsertionConditions, PlainAction } from './flat-entry.ts'

export type InsertedAction = Exclude<Acceptance['actions'][number], { original: Id }>

const busyError: RunError = {
  code: 'BUSY',
  message: 'another run of its session is queued or under way',
  retryable: true,
}

export function createInsertion({ schedule, runs, events, coalescing, changed }: Parts) {
  function insert(action: PlainAction, request: Uint8Array): InsertedAction {
    if (action.type === 'run') runs.add(action.id, action.values)
    else events.add(action.id, action.values, request)
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
    if (isRejectedWhenBusy && action.type === 'run' && meetsOpenTask(action)) return reject(action, now)
    if (join !== undefined) coalescing.begin(id, join, now)
    return insert(action, request)
  }

  function meetsOpenTask({ tasks }: PlainAction): boolean {
    return tasks.some(({ lane }) => lane !== undefined && schedule.isOccupied(lane))
  }

  /** Records the run as cancelled, without a task. */
  function reject({ id, values }: PlainAction & { type: 'run' }, now: number): InsertedAction {
    runs.add(id, values)
    runs.rows.flush()
    runs.change({ id, state: 'cancelled', stage: 'cancelled', error: busyError, cancelledAt: now })
    return { outcome: 'busy', id }
  }

  return {
    insert: (action: PlainAction, request: Uint8Array, now: number): InsertedAction =>
      action.conditions === null
        ? insert(action, request)
        : insertUnderConditions(action, action.conditions, request, now),

    /** Returns what the action became earlier, if it became a record of its own. */
    insertedBefore({ type, id }: PlainAction): InsertedAction | undefined {
      if (type === 'event') return events.has(blobOfId(id)) ? { outcome: 'accepted', id } : undefined
      const run = runs.find(id)
      const wasBusy = run?.state === 'cancelled' && run.error?.code === busyError.code
      return run && { outcome: wasBusy ? 'busy' : 'accepted', id }
    },
  }
}
