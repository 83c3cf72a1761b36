/**
 * Decides which run a request joins, and stores what joined.
 *
 * A run can be joined as long as its task was never claimed. Of its requests the newest 1,000 are known by id. Their
 * contents are kept as far as they fit, and the oldest are dropped first. A number counts all of them.
 *
 * The newest run of a key and its task are locked while a batch decides, so that all nodes agree.
 */

import { type Id, type Join, mostNamedRequests } from '../port.ts'
import { runTask } from '../tasks.ts'
import type { Changing, Query } from './parts.ts'
import { columnOfText, textOfColumn } from './rows.ts'
import { byBytes, defer, lockRows } from './schedule.ts'

/** The most UTF-16 units of contents that are kept for one run. */
const mostUnits = 1_048_576

const day = 86_400_000

/** What a request brings to a run that it joins. */
export interface CoalescedAction {
  readonly id: Id
  readonly request: Id
  readonly join: Join
  /** Of the run that it becomes if there is none to join. */
  readonly deadline: number
  readonly message: string
  readonly prompt: string
}

interface CoalescedRow {
  readonly key: string
  readonly number: number
  readonly run: Id
  readonly deadline: number | null
  readonly joined: number
  readonly first_kept: number
  readonly size: number
}

interface Added {
  readonly action: Id
  readonly number: number
  readonly request: Id
  readonly size: number
  readonly message: string
  readonly prompt: string
}

/** The newest run of a key, as this batch sees it. */
interface Burst {
  readonly key: string
  readonly run: Id
  readonly number: number
  readonly deadline: number
  readonly isNew: boolean
  dueAt: number
  joined: number
  /** Contents before this number are dropped. */
  firstKept: number
  readonly oldFirstKept: number
  size: number
  isMoved: boolean
  readonly added: Added[]
}

export type Coalescing = Awaited<ReturnType<typeof openBursts>>

/**
 * Locks the newest runs of these keys, and returns what decides for one action after the other. `lockLanes` is called before their
 * tasks are locked.
 */
export async function openBursts(tx: Changing, keys: readonly string[], lockLanes: () => void) {
  const bursts = new Map<string, Burst>()
  /** The numbers of runs that began earlier, by key. */
  const numbers = new Map<string, number>()
  if (keys.length > 0) await load()
  else lockLanes()

  async function load(): Promise<void> {
    const columns = [...new Set(keys.map(columnOfText))].sort(byBytes)
    const found = tx.query<CoalescedRow>(
      `SELECT c.* FROM unnest($1::text[]) AS wanted (key) CROSS JOIN LATERAL (
         SELECT key, number, run, deadline, joined, first_kept, size FROM coalesced AS c WHERE c.key = wanted.key
         ORDER BY c.number DESC LIMIT 1 FOR UPDATE
       ) AS c`,
      [columns],
    )
    lockLanes()
    const rows = await found
    const open = rows.filter(({ deadline }) => deadline !== null)
    const tasks =
      open.length === 0 ? [] : await lockRows(tx, open.map(({ run }) => taskKey(run)).sort(byBytes))
    for (const row of rows) {
      const key = textOfColumn(row.key)
      numbers.set(key, row.number)
      const task = tasks.find((each) => each.key === taskKey(row.run))
      if (row.deadline === null || task === undefined || task.claims > 0) continue
      bursts.set(key, {
        key,
        run: row.run,
        number: row.number,
        deadline: row.deadline,
        isNew: false,
        dueAt: task.due_at,
        joined: row.joined,
        firstKept: row.first_kept,
        oldFirstKept: row.first_kept,
        size: row.size,
        isMoved: false,
        added: [],
      })
    }
  }

  return {
    /** Returns the run that the action has joined, or `undefined` if there is none to join. */
    join({ id, request, join, message, prompt }: CoalescedAction): Id | undefined {
      const burst = bursts.get(join.key)
      if (burst === undefined) return undefined
      if (burst.dueAt > tx.now) {
        burst.dueAt = Math.min(join.dueAt, burst.deadline)
        burst.isMoved = true
      }
      burst.joined += 1
      const size = message.length + prompt.length
      burst.added.push({ action: id, number: burst.joined, request, size, message, prompt })
      burst.size += size
      if (join.keep === 'latest') burst.firstKept = burst.joined
      return burst.run
    },

    /** Registers a new run that later requests may join: the first run of a burst. `dueAt` is that of its task. */
    begin({ id, join, deadline }: CoalescedAction, dueAt: number): void {
      const number = (numbers.get(join.key) ?? 0) + 1
      numbers.set(join.key, number)
      bursts.set(join.key, {
        key: join.key,
        run: id,
        number,
        deadline,
        isNew: true,
        dueAt,
        joined: 0,
        firstKept: 1,
        oldFirstKept: 1,
        size: 0,
        isMoved: false,
        added: [],
      })
    },

    /** When the task of a run of this batch is due, which later requests of the batch have put off. */
    dueAt: (run: Id | undefined): number | undefined =>
      [...bursts.values()].find((burst) => burst.run === run)?.dueAt,

    /** Writes what was decided. */
    async write(): Promise<void> {
      const changed = [...bursts.values()].filter(({ isNew, added }) => isNew || added.length > 0)
      if (changed.length === 0) return
      begin(tx, changed)
      addJoined(tx, changed)
      await defer(
        tx,
        changed
          .filter(({ isNew, isMoved }) => !isNew && isMoved)
          .map(({ run, dueAt }) => ({ key: taskKey(run), dueAt })),
      )
      for (const burst of changed) if (burst.added.length > 0) await trim(tx, burst)
    },
  }
}

function taskKey(run: Id): string {
  return runTask({ id: run, sessionKey: '', lane: false, dueAt: 0 }).key
}

function begin({ send, now }: Changing, bursts: readonly Burst[]): void {
  const fresh = bursts.filter(({ isNew }) => isNew)
  if (fresh.length === 0) return
  send(
    `INSERT INTO coalesced (key, number, run, at, deadline, joined, first_kept, size)
     SELECT key, number, run, $4, deadline, 0, 1, 0 FROM unnest($1::text[], $2::bigint[], $3::uuid[], $5::bigint[])
     AS new (key, number, run, deadline)`,
    [
      fresh.map(({ key }) => columnOfText(key)),
      fresh.map(({ number }) => number),
      fresh.map(({ run }) => run),
      now,
      fresh.map(({ deadline }) => Math.round(deadline)),
    ],
  )
}

function addJoined({ send, now }: Changing, bursts: readonly Burst[]): void {
  const rows = bursts.flatMap(({ run, added }) => added.map((each) => ({ run, ...each })))
  if (rows.length === 0) return
  send(
    `INSERT INTO joined (action, run, number, request, at, size, message, prompt)
     SELECT action, run, number, request, $8, size, message, prompt FROM unnest(
       $1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::bigint[], $6::text[], $7::text[]
     ) AS new (action, run, number, request, size, message, prompt)`,
    [
      rows.map(({ action }) => action),
      rows.map(({ run }) => run),
      rows.map(({ number }) => number),
      rows.map(({ request }) => request),
      rows.map(({ size }) => size),
      rows.map(({ message }) => columnOfText(message)),
      rows.map(({ prompt }) => columnOfText(prompt)),
      now,
    ],
  )
}

/** Drops the oldest contents until the rest fits. The newest one stays whatever its size. */
async function trim(tx: Changing, burst: Burst): Promise<void> {
  const { run, joined, oldFirstKept } = burst
  let firstKept = Math.max(burst.firstKept, joined - mostNamedRequests + 1)
  let size = burst.size
  if (firstKept > oldFirstKept || size > mostUnits) {
    const [kept] = await tx.query<{ first: number; size: number }>(
      `SELECT number AS first, upto AS size FROM (
         SELECT number, sum(size) OVER (ORDER BY number DESC)::bigint AS upto FROM joined WHERE run = $1 AND number >= $2
       ) AS sized WHERE upto <= $3 OR number = $4 ORDER BY number LIMIT 1`,
      [run, firstKept, mostUnits, joined],
    )
    firstKept = kept?.first ?? joined
    size = kept?.size ?? 0
    tx.send(
      `UPDATE joined SET message = NULL, prompt = NULL, size = 0 WHERE run = $1 AND number >= $2 AND number < $3`,
      [run, oldFirstKept, firstKept],
    )
  }
  if (joined > mostNamedRequests)
    tx.send('DELETE FROM joined WHERE run = $1 AND number <= $2', [run, joined - mostNamedRequests])
  tx.send('UPDATE coalesced SET joined = $2, first_kept = $3, size = $4 WHERE run = $1', [
    run,
    joined,
    firstKept,
    size,
  ])
}

/** Returns the run that an action joined, as long as the action is among the run's newest 1,000. */
export async function joinedTo(query: Query, action: Id): Promise<Id | undefined> {
  const [row] = await query<{ run: Id }>('SELECT run FROM joined WHERE action = $1', [action])
  return row?.run
}

/** The clock was set back to `now`, by `ms` milliseconds. Older runs no longer wait, and no longer count for an hour. */
export function shiftCoalesced({ send }: Pick<Changing, 'send'>, ms: number, now: number): void {
  send('UPDATE coalesced SET at = at - $1, deadline = deadline - $1 WHERE at > $2', [ms, now + ms - day])
}
