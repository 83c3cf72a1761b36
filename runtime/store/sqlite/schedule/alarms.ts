/**
 * Keeps alarms: the tasks that may be claimed once they are due, by kind and pool. A full pool costs nothing, however many
 * of its tasks wait. A task without a pool is in the pool with the empty name.
 *
 * The first alarm of each pool is remembered: a copy of a committed row, or of one of the running transaction. A transaction may
 * collect its alarms until `flush`, because those of tasks that it claims itself need not be written at all. After a rollback
 * `forget` drops the copies and what was collected.
 */

import type { DatabaseSync } from 'node:sqlite'
import type { RoomIn } from '../../claims.ts'
import type { TaskKind } from '../../port.ts'
import { createRowWriter } from '../database/rows.ts'

/** The columns of a task that its alarm needs. */
export interface AlarmedTask {
  readonly key: string
  readonly seq: number
  readonly kind: TaskKind
  readonly pool: string | null
  readonly due_at: number
}

interface Head {
  readonly due_at: number
  readonly seq: number
}

interface Alarm extends Head {
  readonly key: string
}

const never: Head = { due_at: Number.POSITIVE_INFINITY, seq: 0 }

const isRoomEverywhere: RoomIn = () => Number.POSITIVE_INFINITY

export function createAlarms(db: DatabaseSync) {
  const rows = createRowWriter(db, 'alarms', ['kind', 'pool', 'due_at', 'seq', 'key'])
  const remove = db.prepare('DELETE FROM alarms WHERE kind = ? AND pool = ? AND due_at = ? AND seq = ?')
  const selectPool = db.prepare('SELECT min(pool) AS pool FROM alarms WHERE kind = ? AND pool > ?')
  const selectHead = db.prepare(
    'SELECT due_at, seq FROM alarms WHERE kind = ? AND pool = ? ORDER BY due_at, seq LIMIT 1',
  )
  const selectDue = db.prepare(
    `SELECT due_at, seq, key FROM alarms WHERE kind = ? AND pool = ? AND due_at <= ?
     ORDER BY due_at, seq LIMIT ?`,
  )
  const shift = db.prepare('UPDATE alarms SET due_at = due_at - ?')

  /** Alarms that the next flush writes, by the sequence numbers of their tasks. */
  const collected = new Map<number, AlarmedTask>()
  let collects = false

  /** The first alarm of each pool that may have one; `undefined` if it has to be read again. */
  const heads = new Map<TaskKind, Map<string, Head | undefined>>()

  function poolsOf(kind: TaskKind): Map<string, Head | undefined> {
    const known = heads.get(kind)
    if (known !== undefined) return known
    const pools = new Map<string, Head | undefined>()
    // This goes from one name to the next: walking all alarms would take long where a hundred thousand of them wait.
    for (let pool: string | null = ''; pool !== null; ) {
      pools.set(pool, undefined)
      pool = (selectPool.get(kind, pool) as { pool: string | null }).pool
    }
    for (const task of collected.values()) if (task.kind === kind) pools.set(poolOf(task), undefined)
    heads.set(kind, pools)
    return pools
  }

  function headOf(kind: TaskKind, pool: string, known: Head | undefined): Head {
    if (known !== undefined) return known
    const written = (selectHead.get(kind, pool) as Head | undefined) ?? never
    const head = collectedIn(kind, pool).reduce((first, task) => earlier(first, task), written)
    poolsOf(kind).set(pool, head)
    return head
  }

  function collectedIn(kind: TaskKind, pool: string): AlarmedTask[] {
    if (collected.size === 0) return []
    return [...collected.values()].filter((task) => task.kind === kind && poolOf(task) === pool)
  }

  function dueIn(kind: TaskKind, pool: string, now: number, limit: number): Alarm[] {
    const written = selectDue.all(kind, pool, now, limit) as unknown as Alarm[]
    const fresh = collectedIn(kind, pool).filter((task) => task.due_at <= now)
    return fresh.length === 0 ? written : [...written, ...fresh].sort(inOrder).slice(0, limit)
  }

  function flush(): void {
    for (const task of collected.values()) write(task)
    collected.clear()
    rows.flush()
  }

  function write(task: AlarmedTask): void {
    rows.add(task.kind, poolOf(task), task.due_at, task.seq, task.key)
  }

  /** Returns the pools with a due task and with room, the one with the earliest alarm first. */
  function openPools(kinds: readonly TaskKind[], now: number, roomIn: RoomIn) {
    const open: { kind: TaskKind; pool: string; head: Head; room: number }[] = []
    for (const kind of kinds) {
      for (const [pool, known] of poolsOf(kind)) {
        const head = headOf(kind, pool, known)
        if (head.due_at > now) continue
        const room = roomIn(pool)
        if (room > 0) open.push({ kind, pool, head, room })
      }
    }
    return open.sort((a, b) => inOrder(a.head, b.head))
  }

  return {
    set(task: AlarmedTask) {
      const pool = poolOf(task)
      if (collects) collected.set(task.seq, task)
      else {
        write(task)
        rows.flush()
      }
      const pools = heads.get(task.kind)
      if (pools === undefined) return
      const head = pools.has(pool) ? pools.get(pool) : never
      if (head !== undefined && inOrder(task, head) < 0) {
        pools.set(pool, { due_at: task.due_at, seq: task.seq })
      }
    },

    remove(task: AlarmedTask) {
      const pool = poolOf(task)
      if (!collected.delete(task.seq)) remove.run(task.kind, pool, task.due_at, task.seq)
      heads.get(task.kind)?.set(pool, undefined)
    },

    /** Returns the keys of due tasks with room in their pool, in the order in which they are claimed. */
    due(kinds: readonly TaskKind[], now: number, limit: number, roomIn: RoomIn = isRoomEverywhere): string[] {
      let due: Alarm[] = []
      for (const { kind, pool, head, room } of openPools(kinds, now, roomIn)) {
        // All alarms of the remaining pools come after those that were found.
        const last = due[limit - 1]
        if (last !== undefined && inOrder(last, head) < 0) break
        const more = dueIn(kind, pool, now, Math.min(limit, room))
        due = due.length === 0 ? more : due.concat(more).sort(inOrder)
      }
      return due.slice(0, limit).map((alarm) => alarm.key)
    },

    /** Returns when the next task with room in its pool is due; Infinity for never. */
    earliest(kind: TaskKind, roomIn: RoomIn = isRoomEverywhere): number {
      let earliest = Number.POSITIVE_INFINITY
      for (const [pool, known] of poolsOf(kind)) {
        const { due_at: dueAt } = headOf(kind, pool, known)
        if (dueAt < earliest && roomIn(pool) > 0) earliest = dueAt
      }
      return earliest
    },

    /** Makes all alarms due `ms` milliseconds earlier. */
    shift(ms: number) {
      flush()
      shift.run(ms)
      heads.clear()
    },

    /** From now on alarms are collected until `flush`, or written one by one. */
    collect(on: boolean) {
      collects = on
    },
    flush,

    forget() {
      heads.clear()
      collected.clear()
      rows.forget()
    },
  }
}

function poolOf({ pool }: AlarmedTask): string {
  return pool ?? ''
}

function earlier(a: Head, b: Head): Head {
  return inOrder(b, a) < 0 ? b : a
}

function inOrder(a: Head, b: Head): number {
  return a.due_at === b.due_at ? a.seq - b.seq : a.due_at - b.due_at
}
