/**
 * Keeps tasks: due times, lanes, claims, and what becomes of a task when its claim settles.
 *
 * A task is *scheduled* (it has an alarm, or waits in its lane behind a head that has one), then *claimed* (no alarm), and
 * then it is *finished* (its row is deleted, and the lane's next head gets an alarm) or *postponed* (it gets an alarm again
 * and stays the head). A task that is found claimed at open was interrupted, and is scheduled again.
 *
 * All statements run inside the caller's transaction. A transaction may collect new tasks until `flush`: one that it claims
 * itself is written once, claimed. Between calls only copies of rows are remembered: after a rollback `forget` drops them and what was
 * collected, and nothing else has to be undone.
 */

import type { DatabaseSync } from 'node:sqlite'
import type { ClaimedTask, NewTask, TaskKind } from '../../port.ts'
import { firstTaskOf } from '../../tasks.ts'
import { blobOfId, idOfBlob } from '../database/ids.ts'
import { createRowWriter } from '../database/rows.ts'
import type { Counters } from '../records/counters.ts'
import { createAlarms } from './alarms.ts'

export type Schedule = ReturnType<typeof createSchedule>

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

const taskColumns = [
  'key',
  'seq',
  'kind',
  'lane',
  'due_at',
  'subject',
  'attempt',
  'claims',
  'claimed',
  'interrupted',
  'held',
  'rearm_at',
  'pool',
] as const satisfies readonly (keyof TaskRow)[]

/** With what every task begins. */
const newRow = {
  lane: null,
  attempt: 1,
  claims: 0,
  claimed: 0,
  interrupted: 0,
  held: 0,
  rearm_at: null,
} as const

export function createSchedule(db: DatabaseSync, counters: Counters) {
  const insertTask = db.prepare(
    'INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, 1, 0, 0, 0, 0, NULL, ?) ON CONFLICT (key) DO NOTHING',
  )
  const selectTask = db.prepare('SELECT * FROM tasks WHERE key = ?')
  const deleteTask = db.prepare('DELETE FROM tasks WHERE key = ?')
  const updateDue = db.prepare('UPDATE tasks SET due_at = ? WHERE key = ?')
  const updateSecondDueTime = db.prepare('UPDATE tasks SET rearm_at = ? WHERE key = ?')
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

  /** Rows of claimed tasks, and of tasks without a subject: they are few, and the latter are scheduled again and again. */
  const known = new Map<string, TaskRow>()
  /** Tasks that the next flush writes. They have a subject and no lane. */
  const collected = new Map<string, TaskRow>()
  let collects = false
  const rows = createRowWriter(db, 'tasks', taskColumns)
  const alarms = createAlarms(db)

  function headOf(lane: string): string | undefined {
    return (selectHead.get(lane) as { key: string } | undefined)?.key
  }

  function look(key: string): TaskRow | undefined {
    // What is looked up may be changed next, by statements that need the row.
    if (collected.has(key)) writeCollected()
    return known.get(key) ?? (selectTask.get(key) as TaskRow | undefined)
  }

  function writeCollected(): void {
    for (const row of collected.values()) rows.add(...taskColumns.map((column) => row[column]))
    collected.clear()
    rows.flush()
  }

  function find(key: string): TaskRow {
    const row = look(key)
    if (row === undefined) throw new Error(`the task ${key} is gone`)
    return row
  }

  /** Puts the first run of a session, which has no lane yet, at the head of the session's lane. */
  function adoptFirstRun(lane: string): string | undefined {
    const key = firstTaskOf(lane)
    const row = key === undefined ? undefined : look(key)
    if (row === undefined || row.lane !== null) return undefined
    updateLane.run(lane, row.key)
    known.delete(row.key)
    insertLane.run(lane, row.seq, row.key)
    return row.key
  }

  function insert(task: NewTask): boolean {
    const seq = counters.sequence + 1
    const lane = task.lane ?? null
    const subject = task.subject === undefined ? null : blobOfId(task.subject)
    const pool = task.pool ?? null
    if (collects && subject !== null && lane === null && !collected.has(task.key)) {
      collected.set(task.key, {
        ...newRow,
        key: task.key,
        seq,
        kind: task.kind,
        due_at: task.dueAt,
        subject,
        pool,
      })
    } else {
      if (collected.has(task.key)) writeCollected()
      const { changes } = insertTask.run(task.key, seq, task.kind, lane, task.dueAt, subject, pool)
      if (changes === 0) return false
    }
    counters.sequence = seq
    if (isBacklog(task.kind)) counters.backlog += 1
    const head = lane === null ? undefined : (headOf(lane) ?? adoptFirstRun(lane))
    if (lane !== null) insertLane.run(lane, seq, task.key)
    if (head === undefined) alarms.set({ key: task.key, seq, kind: task.kind, pool, due_at: task.dueAt })
    return true
  }

  /** Writes only if the new time is earlier, so a flood of equal calls costs a lookup in memory. */
  function reschedule(row: TaskRow, dueAt: number): void {
    if (row.claimed === 1) {
      if (row.rearm_at === null || dueAt < row.rearm_at) {
        updateSecondDueTime.run(dueAt, row.key)
        known.delete(row.key)
      }
    } else if (row.held === 0 && dueAt < row.due_at) {
      move(row, dueAt)
    }
  }

  /** Only lane heads and tasks without a lane have an alarm. */
  function hasAlarm(row: TaskRow): boolean {
    return row.lane === null || headOf(row.lane) === row.key
  }

  function move(row: TaskRow, dueAt: number): void {
    const hadAlarm = hasAlarm(row)
    if (hadAlarm) alarms.remove(row)
    updateDue.run(dueAt, row.key)
    if (hadAlarm) alarms.set({ ...row, due_at: dueAt })
    known.delete(row.key)
  }

  /** Deletes the row. If it was the head of its lane, the next task becomes the head. */
  function release(row: TaskRow, wasHead: boolean): void {
    deleteTask.run(row.key)
    known.delete(row.key)
    if (isBacklog(row.kind)) counters.backlog -= 1
    if (row.lane === null) return
    deleteLane.run(row.lane, row.seq)
    const head = wasHead ? headOf(row.lane) : undefined
    if (head !== undefined) alarms.set(find(head))
  }

  return {
    add(task: NewTask) {
      const before = task.subject === undefined ? known.get(task.key) : undefined
      if (before !== undefined) return reschedule(before, task.dueAt)
      if (insert(task)) return
      const row = find(task.key)
      if (task.subject === undefined) known.set(task.key, row)
      reschedule(row, task.dueAt)
    },

    /** Moves a task that waits for its next try to an earlier time. Does nothing for any other task. */
    expedite(key: string, dueAt: number) {
      const row = look(key)
      if (row !== undefined && row.claimed === 0 && row.held === 1 && dueAt < row.due_at) move(row, dueAt)
    },

    /** Returns the keys of due tasks, in the order in which they are claimed. */
    due: alarms.due,

    claim(key: string): ClaimedTask {
      const fresh = collected.get(key)
      const row = fresh === undefined ? (updateClaimed.get(key) as TaskRow | undefined) : claimed(fresh)
      if (row === undefined) throw new Error(`the task ${key} is gone`)
      if (fresh !== undefined) collected.set(key, row)
      known.set(key, row)
      alarms.remove(row)
      return claimedTask(row)
    },

    /** Returns `open` for a task that waits to be claimed, for the first time or again. */
    stateOf(key: string): 'open' | 'claimed' | 'gone' {
      const row = look(key)
      if (row === undefined) return 'gone'
      return row.claimed === 1 ? 'claimed' : 'open'
    },

    /** Returns whether a task of the lane is open or claimed. */
    isOccupied(lane: string): boolean {
      const first = firstTaskOf(lane)
      return headOf(lane) !== undefined || (first !== undefined && look(first) !== undefined)
    },

    /** Moves a task that is not due yet to another time. Returns false if the task was ever claimed, or is gone. */
    defer(key: string, dueAt: number, now: number): boolean {
      const row = look(key)
      if (row === undefined || row.claims > 0) return false
      if (row.due_at > now) move(row, dueAt)
      return true
    },

    /** Deletes an open task. The next task of its lane becomes the head. */
    remove(key: string) {
      const row = find(key)
      const hadAlarm = hasAlarm(row)
      if (hadAlarm) alarms.remove(row)
      release(row, hadAlarm)
    },

    /** Deletes a task whose claim settled as done, or schedules it again if that was requested meanwhile. */
    finish(key: string) {
      const row = find(key)
      // A claimed task is the head of its lane.
      release(row, true)
      if (row.rearm_at !== null) insert({ ...newTask(row), dueAt: row.rearm_at })
    },

    /** Schedules a task whose claim settled as `again`. */
    postpone(key: string, dueAt: number, counts: boolean) {
      const row = updatePostponed.get(dueAt, counts ? 1 : 0, key) as TaskRow | undefined
      if (row === undefined) throw new Error(`the task ${key} is gone`)
      known.delete(key)
      alarms.set(row)
    },

    /** Returns when the next task of a kind is due; Infinity for never. */
    earliest: alarms.earliest,

    /** Moves all due times, because the clock was set back: otherwise tasks that are due now would wait for it to catch up. */
    shift(ms: number) {
      this.flush()
      shiftTasks.run(ms)
      alarms.shift(ms)
      this.forget()
    },

    /** Schedules tasks that are claimed on disk but not in `held`. Returns the keys that are claimed in both. */
    recover(held: ReadonlySet<string>): Set<string> {
      const matching = new Set<string>()
      for (const row of selectClaimed.all() as unknown as TaskRow[]) {
        if (held.has(row.key)) {
          matching.add(row.key)
        } else {
          updateInterrupted.run(row.key)
          alarms.set(row)
        }
      }
      return matching
    },

    /** From now on new tasks and alarms are collected until `flush`, or written one by one. */
    collect(on: boolean) {
      collects = on
      alarms.collect(on)
    },

    /** Writes what was collected. It fails as a whole if the key of a new task is taken. */
    flush() {
      writeCollected()
      alarms.flush()
    },

    forget() {
      known.clear()
      collected.clear()
      rows.forget()
      alarms.forget()
    },
  }
}

/** What the statement that claims a task makes of its row. */
function claimed(row: TaskRow): TaskRow {
  return { ...row, claimed: 1, claims: row.claims + 1, held: 0 }
}

function isBacklog(kind: TaskKind): boolean {
  return kind === 'run' || kind === 'delivery'
}

function newTask({ key, kind, due_at: dueAt, lane, subject, pool }: TaskRow): NewTask {
  return {
    key,
    kind,
    dueAt,
    ...(lane !== null && { lane }),
    ...(subject !== null && { subject: idOfBlob(subject) }),
    ...(pool !== null && { pool }),
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
