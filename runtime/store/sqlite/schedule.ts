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
import type { ClaimedTask, Id, NewTask, TaskKind } from '../port.ts'
import { founderTask } from '../tasks.ts'
import { blobOfId, idOfBlob } from './blob.ts'
import type { Tally } from './tally.ts'

export interface Schedule {
  arm(task: NewTask): void
  /** The tasks that are due, in the order in which they are claimed. */
  due(kinds: readonly TaskKind[], now: number, limit: number): string[]
  claim(key: string): ClaimedTask
  /** Its claim settled as done: the task goes, or is armed anew when it was armed meanwhile. */
  finish(key: string): void
  /** Its claim settled as `again`. */
  postpone(key: string, dueAt: number, counts: boolean): void
  /** When the next task of a kind is due; Infinity for never. */
  earliest(kind: TaskKind): number
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
}

interface Alarm {
  readonly due_at: number
  readonly seq: number
  readonly key: string
}

export function createSchedule(db: DatabaseSync, tally: Tally): Schedule {
  const insertTask = db.prepare(
    'INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, 1, 0, 0, 0, 0, NULL) ON CONFLICT (key) DO NOTHING',
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
  const insertAlarm = db.prepare('INSERT INTO alarms VALUES (?, ?, ?, ?)')
  const deleteAlarm = db.prepare('DELETE FROM alarms WHERE kind = ? AND due_at = ? AND seq = ?')
  const selectEarliest = db.prepare('SELECT due_at FROM alarms WHERE kind = ? ORDER BY due_at LIMIT 1')
  const selectDue = db.prepare(
    'SELECT due_at, seq, key FROM alarms WHERE kind = ? AND due_at <= ? ORDER BY due_at, seq LIMIT ?',
  )
  const updateLane = db.prepare('UPDATE tasks SET lane = ? WHERE key = ?')
  const insertLane = db.prepare('INSERT INTO lanes VALUES (?, ?, ?)')
  const deleteLane = db.prepare('DELETE FROM lanes WHERE lane = ? AND seq = ?')
  const selectHead = db.prepare('SELECT key FROM lanes WHERE lane = ? ORDER BY seq LIMIT 1')
  const selectClaimed = db.prepare('SELECT * FROM tasks WHERE claimed = 1')
  const shiftTasks = db.prepare('UPDATE tasks SET due_at = due_at - ?1, rearm_at = rearm_at - ?1')
  const shiftAlarms = db.prepare('UPDATE alarms SET due_at = due_at - ?')
  const updateInterrupted = db.prepare('UPDATE tasks SET claimed = 0, interrupted = 1 WHERE key = ?')

  /** Rows of tasks without a subject: few, and armed again and again. */
  const keyed = new Map<string, TaskRow>()
  const earliest = new Map<TaskKind, number>()

  function ring(task: TaskRow): void {
    insertAlarm.run(task.kind, task.due_at, task.seq, task.key)
    const known = earliest.get(task.kind)
    if (known !== undefined && task.due_at < known) earliest.set(task.kind, task.due_at)
  }

  function hush(task: TaskRow): void {
    deleteAlarm.run(task.kind, task.due_at, task.seq)
    earliest.delete(task.kind)
  }

  function headOf(lane: string): string | undefined {
    return (selectHead.get(lane) as { key: string } | undefined)?.key
  }

  function find(key: string): TaskRow {
    const row = selectTask.get(key) as TaskRow | undefined
    if (row === undefined) throw new Error(`the task ${key} is gone`)
    return row
  }

  /** A run that began a session without a lane heads it from the moment that the session is gone on with. */
  function adopt(lane: string): string | undefined {
    const key = founderTask(lane)
    const row = key === undefined ? undefined : (selectTask.get(key) as TaskRow | undefined)
    if (row === undefined || row.lane !== null) return undefined
    updateLane.run(lane, row.key)
    insertLane.run(lane, row.seq, row.key)
    return row.key
  }

  function insert(task: NewTask): boolean {
    const seq = tally.sequence + 1
    const lane = task.lane ?? null
    const subject = task.subject === undefined ? null : blobOfId(task.subject)
    const { changes } = insertTask.run(task.key, seq, task.kind, lane, task.dueAt, subject)
    if (changes === 0) return false
    tally.sequence = seq
    if (isBacklog(task.kind)) tally.backlog += 1
    const head = lane === null ? undefined : (headOf(lane) ?? adopt(lane))
    if (lane !== null) insertLane.run(lane, seq, task.key)
    if (head === undefined)
      ring({ ...newRow, key: task.key, seq, kind: task.kind, lane, due_at: task.dueAt, subject })
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
      const rings = row.lane === null || headOf(row.lane) === row.key
      if (rings) hush(row)
      updateDue.run(dueAt, row.key)
      if (rings) ring({ ...row, due_at: dueAt })
      keyed.delete(row.key)
    }
  }

  return {
    arm(task) {
      const known = task.subject === undefined ? keyed.get(task.key) : undefined
      if (known !== undefined) return rearm(known, task.dueAt)
      if (insert(task)) return
      const row = find(task.key)
      if (task.subject === undefined) keyed.set(task.key, row)
      rearm(row, task.dueAt)
    },

    due(kinds, now, limit) {
      const alarms: Alarm[] = []
      for (const kind of kinds) {
        if (this.earliest(kind) > now) continue
        alarms.push(...(selectDue.all(kind, now, limit) as unknown as Alarm[]))
      }
      if (kinds.length > 1) alarms.sort((a, b) => a.due_at - b.due_at || a.seq - b.seq)
      return alarms.slice(0, limit).map((alarm) => alarm.key)
    },

    claim(key) {
      const row = updateClaimed.get(key) as TaskRow | undefined
      if (row === undefined) throw new Error(`the task ${key} is gone`)
      keyed.delete(key)
      hush(row)
      return claimedTask(row)
    },

    finish(key) {
      const row = find(key)
      deleteTask.run(key)
      keyed.delete(key)
      if (isBacklog(row.kind)) tally.backlog -= 1
      if (row.lane !== null) {
        deleteLane.run(row.lane, row.seq)
        const head = headOf(row.lane)
        if (head !== undefined) ring(find(head))
      }
      if (row.rearm_at !== null) insert({ ...newTask(row), dueAt: row.rearm_at })
    },

    postpone(key, dueAt, counts) {
      const row = updatePostponed.get(dueAt, counts ? 1 : 0, key) as TaskRow | undefined
      if (row === undefined) throw new Error(`the task ${key} is gone`)
      keyed.delete(key)
      ring(row)
    },

    earliest(kind) {
      const known = earliest.get(kind)
      if (known !== undefined) return known
      const row = selectEarliest.get(kind) as { due_at: number } | undefined
      const dueAt = row?.due_at ?? Number.POSITIVE_INFINITY
      earliest.set(kind, dueAt)
      return dueAt
    },

    shift(ms) {
      shiftTasks.run(ms)
      shiftAlarms.run(ms)
      this.forget()
    },

    recover(held) {
      const right = new Set<string>()
      for (const row of selectClaimed.all() as unknown as TaskRow[]) {
        if (held.has(row.key)) {
          right.add(row.key)
        } else {
          updateInterrupted.run(row.key)
          ring(row)
        }
      }
      return right
    },

    forget() {
      keyed.clear()
      earliest.clear()
    },
  }
}

const newRow = { attempt: 1, claims: 0, claimed: 0, interrupted: 0, held: 0, rearm_at: null } as const

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
