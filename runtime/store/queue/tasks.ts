/**
 * Keeps the queue: due times, lanes, leases, and what becomes of a task when its claim settles.
 *
 * A task is *ready* when it has no lane or is the head of its lane, *leased* once a node has claimed it, and then it is *finished* (its
 * row is deleted, and the next task of the lane is ready) or *postponed* (ready again, with another due time, and still the head). An
 * expired lease makes the task ready again, as one that was interrupted. `leased_by`, `claims` and `key` together are the lease token: after a
 * failover to a standby that lagged, another task may have the same sequence number.
 *
 * A transaction that adds a task to a lane or deletes one holds the lane's lock, so that the order of a lane is that of its sequence
 * numbers. The task of heartbeats is shared by all that schedule it: whoever claims it holds the lock of its lane as well, so that nobody
 * relies on a task that is being claimed.
 */

import type { Context } from '../context.ts'
import type { ClaimedTask, NewTask, TaskKind } from '../port.ts'
import { decodeString, encodeString, type RowValues } from '../records/rows.ts'
import { type Row, tables } from '../schema.ts'
import { firstTaskOf, laneOf } from '../task-keys.ts'

export type TaskRow = Row<'tasks'> & {
  readonly kind: TaskKind
  readonly state: 'ready' | 'leased' | null
}

/** The task of a node, as long as no other claim was made of it. */
export interface LeaseToken {
  readonly sequence: number
  readonly claims: number
  /** Encoded. */
  readonly key: string
}

/** Names a lease in what nodes tell each other. */
export const leaseName = ({ sequence, claims, key }: LeaseToken): string => `${sequence} ${claims} ${key}`

export const isBacklog = (kind: string): boolean => kind === 'run' || kind === 'delivery'

/**
 * Adds tasks. One that is there already takes the earlier due time, unless it waits for its next attempt; a claimed one is scheduled
 * again when its claim settles.
 */
export async function addTasks(tx: Context, tasks: readonly NewTask[]): Promise<void> {
  if (tasks.length === 0) return
  await lockLanes(tx, tasks)
  const earliest = earliestOfEach(tasks)
  const rows = await findTasks(
    tx,
    earliest.map(({ key }) => key),
  )
  const missing = earliest.filter(({ key }) => !rows.has(key))
  for (const { key, dueAt } of earliest) {
    const row = rows.get(key)
    if (row !== undefined) await bringForward(tx, row, dueAt)
  }
  await insertTasks(tx, missing)
}

/** Inserts tasks of new keys. Fails if one of them is taken. */
export async function insertTasks(tx: Context, tasks: readonly NewTask[]): Promise<void> {
  if (tasks.length === 0) return
  const occupied = new Set(await occupiedLanes(tx, await lockLanes(tx, tasks)))
  const rows: RowValues[] = []
  for (const task of tasks) {
    const lane = task.lane === undefined ? null : encodeString(task.lane)
    const isReady = lane === null || !occupied.has(lane)
    if (lane !== null) occupied.add(lane)
    if (isReady) tx.due({ kind: task.kind, pool: encodeString(task.pool ?? '') }, task.dueAt)
    rows.push(rowOfTask(task, lane, isReady))
  }
  tx.later(tx.insert(tables.tasks, rows))
  tx.count('backlog', tasks.filter(({ kind }) => isBacklog(kind)).length)
}

function rowOfTask(task: NewTask, lane: string | null, isReady: boolean): RowValues {
  const { key, kind, dueAt, subject = null, pool = '' } = task
  const fresh = { attempt: 1, claims: 0, waits_again: 0, again_at: null, interrupted: 0, cancelled: 0 }
  return [
    ...[encodeString(key), kind, lane, encodeString(pool), dueAt, subject, isReady ? 'ready' : null],
    ...Object.values(fresh),
    null,
    null,
  ]
}

/** Of several tasks with one key the earliest due time counts. */
function earliestOfEach(tasks: readonly NewTask[]): readonly NewTask[] {
  if (tasks.length === 1) return tasks
  const byKey = new Map<string, NewTask>()
  for (const task of tasks) {
    const before = byKey.get(task.key)
    if (before === undefined || task.dueAt < before.dueAt) byKey.set(task.key, task)
  }
  return [...byKey.values()]
}

/** Locks the lanes of tasks. Returns them encoded. */
export async function lockLanes(
  tx: Context,
  tasks: readonly Pick<NewTask, 'lane'>[],
): Promise<readonly string[]> {
  const lanes = [...new Set(tasks.flatMap(({ lane }) => (lane === undefined ? [] : encodeString(lane))))]
  if (lanes.length > 0) await tx.lock(lanes.map((lane) => `lane:${lane}`))
  return lanes
}

/**
 * Returns those of some locked lanes, encoded, that have a task. The first run of a session with a generated key is put into the
 * session's lane, as no other run could know the key before.
 */
export async function occupiedLanes(tx: Context, lanes: readonly string[]): Promise<ReadonlySet<string>> {
  if (lanes.length === 0) return new Set()
  for (const lane of lanes) {
    const first = firstTaskOf(decodeString(lane))
    if (first !== undefined)
      await tx.run('UPDATE tasks SET lane = ?1 WHERE key = ?2 AND lane IS NULL', [lane, first])
  }
  const rows = await tx.all<{ lane: string }>(
    `SELECT value AS lane FROM ${tx.dialect.list('?1', 'text')} WHERE EXISTS (SELECT 1 FROM tasks WHERE lane = list.value)`,
    [lanes],
  )
  return new Set(rows.map(({ lane }) => lane))
}

/** Returns whether a session has an open task: one of its lane, or its first run, which may be in another lane. */
export async function isSessionOpen(tx: Context, session: string): Promise<boolean> {
  const lane = laneOf(session)
  if ((await occupiedLanes(tx, await lockLanes(tx, [{ lane }]))).size > 0) return true
  const first = firstTaskOf(lane)
  return first !== undefined && (await findTasks(tx, [first])).size > 0
}

async function findTasks(tx: Context, keys: readonly string[]): Promise<ReadonlyMap<string, TaskRow>> {
  const [first] = keys
  const rows =
    first !== undefined && keys.length === 1
      ? await tx.all<TaskRow>('SELECT * FROM tasks WHERE key = ?1', [encodeString(first)])
      : await tx.all<TaskRow>(`SELECT * FROM tasks WHERE key IN ${tx.dialect.among('?1', 'text')}`, [
          keys.map(encodeString),
        ])
  return new Map(rows.map((row) => [decodeString(row.key), row]))
}

/** Finds a task, and keeps other transactions from changing it. */
export async function findTask(tx: Context, key: string): Promise<TaskRow | undefined> {
  const [row] = await tx.all<TaskRow>(`SELECT * FROM tasks WHERE key = ?1 ${tx.dialect.forUpdate}`, [
    encodeString(key),
  ])
  return row
}

async function bringForward(tx: Context, row: TaskRow, dueAt: number): Promise<void> {
  if (row.leased_by !== null) {
    if (row.again_at !== null && row.again_at <= dueAt) return
    await tx.run('UPDATE tasks SET again_at = ?1 WHERE sequence = ?2', [dueAt, row.sequence])
  } else if (row.waits_again === 0 && dueAt < row.due_at) await moveTask(tx, row, dueAt)
}

async function moveTask(tx: Context, row: TaskRow, dueAt: number): Promise<void> {
  await tx.run('UPDATE tasks SET due_at = ?1 WHERE sequence = ?2', [dueAt, row.sequence])
  if (row.state === 'ready') tx.due(row, dueAt)
}

/** Moves a task that waits for its next attempt to an earlier time. Does nothing for any other task. */
export async function expediteTask(tx: Context, key: string, dueAt: number): Promise<void> {
  const row = await findTask(tx, key)
  if (row !== undefined && row.leased_by === null && row.waits_again === 1 && dueAt < row.due_at)
    await moveTask(tx, row, dueAt)
}

/** Moves a task that is not due yet to another time. Returns false if the task was ever claimed, or is gone. */
export async function deferTask(tx: Context, key: string, dueAt: number): Promise<boolean> {
  const row = await findTask(tx, key)
  if (row === undefined || row.claims > 0) return false
  if (row.due_at > tx.now) await moveTask(tx, row, dueAt)
  return true
}

/** Deletes tasks of different lanes. The next one of each lane is ready then. */
export async function deleteTasks(tx: Context, rows: readonly TaskRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx.lock(rows.flatMap(({ lane }) => (lane === null ? [] : `lane:${lane}`)))
  const among = tx.dialect.among('?1', 'integer')
  const sequencesOf = (some: readonly Pick<TaskRow, 'sequence'>[]) => some.map(({ sequence }) => sequence)
  const heads = rows.filter((row) => row.lane !== null && row.state !== null)
  const next =
    heads.length === 0
      ? []
      : await tx.all<TaskRow>(
          `SELECT next.* FROM tasks JOIN tasks AS next ON next.sequence =
             (SELECT min(sequence) FROM tasks AS later WHERE later.lane = tasks.lane AND later.sequence > tasks.sequence)
           WHERE tasks.sequence IN ${among}`,
          [sequencesOf(heads)],
        )
  if (next.length > 0)
    tx.later(tx.run(`UPDATE tasks SET state = 'ready' WHERE sequence IN ${among}`, [sequencesOf(next)]))
  tx.later(tx.run(`DELETE FROM tasks WHERE sequence IN ${among}`, [sequencesOf(rows)]))
  for (const row of next) tx.due(row, row.due_at)
  tx.count('backlog', -rows.filter(({ kind }) => isBacklog(kind)).length)
}

/**
 * Finds the tasks of claims, and keeps other transactions from changing them. Returns what finds that of a claim; nothing for one that was
 * settled before, or that another node has taken over.
 */
export async function leasedTasks(
  tx: Context,
  tokens: readonly LeaseToken[],
): Promise<(token: LeaseToken) => TaskRow | undefined> {
  // Who has leased them is no condition of the statement: an index of all leased tasks would be walked through for it.
  const rows = await tx.all<TaskRow>(
    `SELECT * FROM tasks WHERE sequence IN ${tx.dialect.among('?1', 'integer')} ORDER BY sequence ${tx.dialect.forUpdate}`,
    [tokens.map(({ sequence }) => sequence)],
  )
  const own = rows.filter(({ leased_by }) => leased_by === tx.node)
  const leased = new Map(own.map((row) => [leaseName(row), row]))
  return (token) => leased.get(leaseName(token))
}

/** Deletes tasks whose claims settled as done. Returns those that were scheduled again meanwhile. */
export async function finishTasks(tx: Context, rows: readonly TaskRow[]): Promise<readonly NewTask[]> {
  await deleteTasks(tx, rows)
  for (const row of rows) noteRoom(tx, row)
  return rows.flatMap((row) => (row.again_at === null ? [] : { ...newTask(row), dueAt: row.again_at }))
}

/** A task of a pool that has a limit may be claimed now, here or on another node. */
function noteRoom(tx: Context, row: TaskRow): void {
  if (row.pool !== '') tx.room(row)
}

/** New values of a task whose claim settled as `again`. */
const waiting = {
  leased_by: null,
  leased_until: null,
  state: 'ready',
  interrupted: 0,
  cancelled: 0,
  waits_again: 1,
  again_at: null,
}

/** Schedules tasks whose claims settled as `again`. `counts`: this was an attempt. */
export function postponeTasks(
  tx: Context,
  tasks: readonly { readonly row: TaskRow; readonly dueAt: number; readonly counts: boolean }[],
): void {
  const rows = tasks.map(({ row: { sequence, attempt }, dueAt, counts }) => [
    sequence,
    ...Object.values(waiting),
    dueAt,
    attempt + (counts ? 1 : 0),
  ])
  tx.later(tx.update(tables.tasks, [...Object.keys(waiting), 'due_at', 'attempt'], rows))
  for (const { row, dueAt } of tasks) {
    tx.due(row, dueAt)
    noteRoom(tx, row)
  }
}

/** Tells the holder of a claim that its run was cancelled. */
export async function cancelTask(tx: Context, row: TaskRow): Promise<void> {
  await tx.run('UPDATE tasks SET cancelled = 1 WHERE sequence = ?1', [row.sequence])
  tx.cancelled(leaseName(row))
}

/** Moves all due times, because the clock was set back: otherwise tasks that are due now would wait for it to catch up. */
export async function shiftTasks(tx: Context, ms: number): Promise<void> {
  await tx.run('UPDATE tasks SET due_at = due_at - ?1, again_at = again_at - ?1', [ms])
}

function newTask(row: TaskRow): NewTask {
  return {
    key: decodeString(row.key),
    kind: row.kind,
    dueAt: row.due_at,
    ...(row.lane !== null && { lane: decodeString(row.lane) }),
    ...(row.subject !== null && { subject: row.subject }),
    ...(row.pool !== '' && { pool: decodeString(row.pool) }),
  }
}

export function claimedTask(row: TaskRow): ClaimedTask {
  return {
    ...newTask(row),
    attempt: row.attempt,
    claims: row.claims,
    interrupted: row.interrupted === 1,
  }
}
