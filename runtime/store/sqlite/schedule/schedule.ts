/**
 * Owns tasks: due times, lanes, claims and what becomes of a task when its claim settles.
 *
 * A task is *armed* (it has an alarm, or waits in its lane behind a head that has one), then *claimed* (no
 * alarm), then it is *finished* (its row goes, the lane's next head gets an alarm) or *postponed* (it gets an
 * alarm again and stays the head). A task found claimed at open was interrupted, and is armed again.
 *
 * All statements run inside the caller's transaction. What is remembered here between calls are copies of
 * committed rows: after a rollback `forget` drops them and nothing else has to be undone.
 */

import type { DatabaseSync } from 'node:sqlite'
import type { ClaimedTask, Id, NewTask, TaskKind } from '../../port.ts'
import { firstTaskOf } from '../../tasks.ts'
import { blobOfId, idOfBlob } from '../database/id-blob.ts'
import type { Counters } from '../records/counters.ts'
import { createAlarms, type RoomIn } from './alarms.ts'

export interface Schedule {
  add(task: NewTask): void
  /** An earlier time for a task that waits to be tried again; nothing for any other. */
  expedite(key: string, dueAt: number): void
  /** The tasks that are due, in the order in which they are claimed. */
  due(kinds: readonly TaskKind[], now: number, limit: number, roomIn?: RoomIn): string[]
  claim(key: string): ClaimedTask
  /** `open`: it waits to be claimed, for the first time or again. */
  stateOf(key: string): 'open' | 'claimed' | 'gone'
  /** Whether a task of the lane is open or claimed. */
  isOccupied(lane: string): boolean
  /** Another due time, sooner or later, for a task that was never claimed and is not due yet. False where it was, or is gone. */
  defer(key: string, dueAt: number, now: number): boolean
  /** Takes an open task away; whatever waited behind it goes on. */
  remove(key: string): void
  /** Its claim settled as done: the task goes, or is armed anew when it was armed meanwhile. */
  finish(key: string): void
  /** Its claim settled as `again`. */
  postpone(key: string, dueAt: number, counts: boolean): void
  /** When the next task of a kind is due; Infinity for never. */
  earliest(kind: TaskKind, roomIn?: RoomIn): number
  /** The clock was set back: due times keep their distance from it, or what is due now would wait for it to catch up. */
  shift(ms: number): void
  /** Arms again what is claimed on disk and held by nobody. Answers the keys that are held rightly. */
  recover(held: ReadonlySet<string>): Set<string>
  forget(): void
}

interface TaskRow {
  readonly key: string
  readonly seq: number
  readonly kind: TaskKind
  readonly lane: string | null
  readonly due_at: number
  readonly subject: Uint8Array | null
  readonly attempt: number
  readonly claims: number
  readonly claimed: number
  readonly interrupted: number
  readonly held: number
  readonly rearm_at: number | null
  readonly pool: string | null
}

export function createSchedule(db: DatabaseSync, counters: Counters): Schedule {
  const insertTask = db.prepare(
    'INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, 1, 0, 0, 0, 0, NULL, ?) ON CONFLICT (key) DO NOTHING',
  )
  const selectTask = db.prepare('SELECT * FROM tasks WHERE key = ?')
  const deleteTask = db.prepare('DELETE FROM tasks WHERE key = ?')
  const updateDue = db.prepare('UPDATE tasks SET due_at = ? WHERE key = ?')
  const updateRearm = db.prepare('UPDATE tasks SET rearm_at = ? WHERE key = ?')
  const updateClaimed = db.prepare(
    'UPDATE tasks SET claimed = 1, claims = claims + 1, held = 0 WHERE key = ? RETURNING *',
  )
  const updatePostponed = db.prepare(
    `UPDATE tasks SET claimed = 0, interrupted = 0, held = 1, rearm_at = NULL, due_at = ?, attempt = attempt + ?
     WHERE key = ? RETURNING *`,
  )
  const updateLane = db.prepare('UPDATE tasks SET lane = ? WHERE key = ?')
  const insertLane = db.prepare('INSERT INTO lanes VALUES (?, ?, ?)')
  const deleteLane = db.prepare('DELETE FROM lanes WHERE lane = ? AND seq = ?')
  const selectHead = db.prepare('SELECT key FROM lanes WHERE lane = ? ORDER BY seq LIMIT 1')
  const selectClaimed = db.prepare('SELECT * FROM tasks WHERE claimed = 1')
  const shiftTasks = db.prepare('UPDATE tasks SET due_at = due_at - ?1, rearm_at = rearm_at - ?1')
  const updateInterrupted = db.prepare('UPDATE tasks SET claimed = 0, interrupted = 1 WHERE key = ?')

  /** Rows of tasks without a subject: few, and armed again and again. */
  const keyed = new Map<string, TaskRow>()
  const alarms = createAlarms(db)

  function headOf(lane: string): string | undefined {
    return (selectHead.get(lane) as { key: string } | undefined)?.key
  }

  function look(key: string): TaskRow | undefined {
    return selectTask.get(key) as TaskRow | undefined
  }

  function find(key: string): TaskRow {
    const row = look(key)
    if (row === undefined) throw new Error(`the task ${key} is gone`)
    return row
  }

  /** A run that began a session without a lane heads it from the moment that the session is gone on with. */
  function adopt(lane: string): string | undefined {
    const key = firstTaskOf(lane)
    const row = key === undefined ? undefined : look(key)
    if (row === undefined || row.lane !== null) return undefined
    updateLane.run(lane, row.key)
    insertLane.run(lane, row.seq, row.key)
    return row.key
  }

  function insert(task: NewTask): boolean {
    const seq = counters.sequence + 1
    const lane = task.lane ?? null
    const subject = task.subject === undefined ? null : blobOfId(task.subject)
    const pool = task.pool ?? null
    const { changes } = insertTask.run(task.key, seq, task.kind, lane, task.dueAt, subject, pool)
    if (changes === 0) return false
    counters.sequence = seq
    if (isBacklog(task.kind)) counters.backlog += 1
    const head = lane === null ? undefined : (headOf(lane) ?? adopt(lane))
    if (lane !== null) insertLane.run(lane, seq, task.key)
    if (head === undefined) alarms.set({ key: task.key, seq, kind: task.kind, pool, due_at: task.dueAt })
    return true
  }

  /** Writes only where the time moves forward: a flood of equal arms costs a look into memory. */
  function rearm(row: TaskRow, dueAt: number): void {
    if (row.claimed === 1) {
      if (row.rearm_at === null || dueAt < row.rearm_at) {
        updateRearm.run(dueAt, row.key)
        keyed.delete(row.key)
      }
    } else if (row.held === 0 && dueAt < row.due_at) {
      move(row, dueAt)
    }
  }

  /** Only heads, and what is in no lane, have an alarm. */
  function rings(row: TaskRow): boolean {
    return row.lane === null || headOf(row.lane) === row.key
  }

  function move(row: TaskRow, dueAt: number): void {
    const isRinging = rings(row)
    if (isRinging) alarms.remove(row)
    updateDue.run(dueAt, row.key)
    if (isRinging) alarms.set({ ...row, due_at: dueAt })
    keyed.delete(row.key)
  }

  /** Takes its row away, and lets the next one of its lane go on. */
  function leave(row: TaskRow, wasHead: boolean): void {
    deleteTask.run(row.key)
    keyed.delete(row.key)
    if (isBacklog(row.kind)) counters.backlog -= 1
    if (row.lane === null) return
    deleteLane.run(row.lane, row.seq)
    const head = wasHead ? headOf(row.lane) : undefined
    if (head !== undefined) alarms.set(find(head))
  }

  return {
    add(task) {
      const known = task.subject === undefined ? keyed.get(task.key) : undefined
      if (known !== undefined) return rearm(known, task.dueAt)
      if (insert(task)) return
      const row = find(task.key)
      if (task.subject === undefined) keyed.set(task.key, row)
      rearm(row, task.dueAt)
    },

    expedite(key, dueAt) {
      const row = look(key)
      if (row !== undefined && row.claimed === 0 && row.held === 1 && dueAt < row.due_at) move(row, dueAt)
    },

    due: alarms.due,

    claim(key) {
      const row = updateClaimed.get(key) as TaskRow | undefined
      if (row === undefined) throw new Error(`the task ${key} is gone`)
      keyed.delete(key)
      alarms.remove(row)
      return claimedTask(row)
    },

    stateOf(key) {
      const row = look(key)
      if (row === undefined) return 'gone'
      return row.claimed === 1 ? 'claimed' : 'open'
    },

    isOccupied(lane) {
      const founder = firstTaskOf(lane)
      return headOf(lane) !== undefined || (founder !== undefined && look(founder) !== undefined)
    },

    defer(key, dueAt, now) {
      const row = look(key)
      if (row === undefined || row.claims > 0) return false
      if (row.due_at > now) move(row, dueAt)
      return true
    },

    remove(key) {
      const row = find(key)
      const isRinging = rings(row)
      if (isRinging) alarms.remove(row)
      leave(row, isRinging)
    },

    finish(key) {
      const row = find(key)
      // What is claimed has been the head of its lane.
      leave(row, true)
      if (row.rearm_at !== null) insert({ ...newTask(row), dueAt: row.rearm_at })
    },

    postpone(key, dueAt, counts) {
      const row = updatePostponed.get(dueAt, counts ? 1 : 0, key) as TaskRow | undefined
      if (row === undefined) throw new Error(`the task ${key} is gone`)
      keyed.delete(key)
      alarms.set(row)
    },

    earliest: alarms.earliest,

    shift(ms) {
      shiftTasks.run(ms)
      alarms.shift(ms)
      this.forget()
    },

    recover(held) {
      const right = new Set<string>()
      for (const row of selectClaimed.all() as unknown as TaskRow[]) {
        if (held.has(row.key)) {
          right.add(row.key)
        } else {
          updateInterrupted.run(row.key)
          alarms.set(row)
        }
      }
      return right
    },

    forget() {
      keyed.clear()
      alarms.forget()
    },
  }
}

function isBacklog(kind: TaskKind): boolean {
  return kind === 'run' || kind === 'delivery'
}

function newTask(row: TaskRow): NewTask {
  const subject: Id | undefined = row.subject === null ? undefined : idOfBlob(row.subject)
  return {
    key: row.key,
    kind: row.kind,
    dueAt: row.due_at,
    ...(row.lane === null ? {} : { lane: row.lane }),
    ...(subject === undefined ? {} : { subject }),
    ...(row.pool === null ? {} : { pool: row.pool }),
  }
}

function claimedTask(row: TaskRow): ClaimedTask {
  return {
    ...newTask(row),
    attempt: row.attempt,
    claims: row.claims,
    interrupted: row.interrupted === 1,
  }
}
