/**
 * Decides which run a request joins, and keeps what joined.
 *
 * A run can be joined as long as its task was never claimed. Of its requests the newest 1,000 are known by id. Their contents are kept
 * as far as they fit, and the oldest are dropped first. A number counts all of them.
 */

import type { Statements } from '@reveille/kit'
import type { Context } from '../context.ts'
import {
  type Id,
  type Join,
  type JoinedRequest,
  maxNamedRequests,
  type RunRecord,
  requestsOf,
} from '../port.ts'
import { deferTask } from '../queue/tasks.ts'
import { type Row, tables } from '../schema.ts'
import { encodeString, type RowValues } from './rows.ts'

/** Maximum length of the contents kept for one run, in UTF-16 units. */
const maxUnits = 1_048_576
/** Maximum number of messages that the record of a cancelled run shows. */
const maxShown = 100
const hourMs = 3_600_000

export interface PlainJoin extends Join {
  readonly deadline: number
  readonly message: string
  readonly prompt: string
}

type CoalescedRow = Row<'coalesced'>

/** A run that the batch itself begins, and when its task is due. */
interface Begun {
  readonly row: CoalescedRow
  dueAt: number
}

/** Locks the coalesced runs of some keys and reads the newest of each. */
export async function createCoalescing(tx: Context, all: readonly string[]) {
  const keys = [...new Set(all.map(encodeString))]
  const newest = new Map<string, CoalescedRow>()
  const begun = new Map<Id, Begun>()
  const joined: RowValues[] = []
  const written = new Set<Id>()
  if (keys.length > 0) {
    await tx.lock(keys.map((key) => `coalesced:${key}`))
    for (const key of keys) {
      const [row] = await tx.all<CoalescedRow>(
        'SELECT * FROM coalesced WHERE key = ?1 ORDER BY number DESC LIMIT 1',
        [key],
      )
      if (row !== undefined) newest.set(key, row)
    }
  }

  /** Moves the task of the run to the new due time. Returns false for a run that can no longer be joined. */
  async function defer(run: Id, dueAt: number): Promise<boolean> {
    const own = begun.get(run)
    if (own === undefined) return deferTask(tx, `run:${run}`, dueAt)
    if (own.dueAt > tx.now) own.dueAt = dueAt
    return true
  }

  return {
    /** Returns the run that the action has joined, or undefined if there is none to join. */
    async join(id: Id, join: PlainJoin, request: Id): Promise<Id | undefined> {
      const key = encodeString(join.key)
      const row = newest.get(key)
      if (row === undefined || row.deadline === null) return undefined
      if (!(await defer(row.run, Math.min(join.dueAt, row.deadline)))) return undefined
      const { message, prompt, keep } = join
      const size = message.length + prompt.length
      const number = row.joined + 1
      joined.push([id, row.run, number, request, tx.now, size, JSON.stringify({ message, prompt })])
      await this.write()
      newest.set(key, await trim(tx, { ...row, joined: number, size: row.size + size }, keep))
      return row.run
    },

    /** Registers a new run that later requests may join. */
    begin(run: Id, { key: text, deadline }: PlainJoin, dueAt: number) {
      const key = encodeString(text)
      const number = (newest.get(key)?.number ?? 0) + 1
      const row = { key, number, run, at: tx.now, deadline, joined: 0, first_kept: 1, size: 0 }
      newest.set(key, row)
      begun.set(run, { row, dueAt })
    },

    /** The due time of a task of this batch that was deferred. */
    dueAt: (run: Id): number | undefined => begun.get(run)?.dueAt,

    async write(): Promise<void> {
      const rows = [...begun.values()].filter(({ row }) => !written.has(row.run))
      for (const { row } of rows) written.add(row.run)
      if (rows.length > 0)
        await tx.insert(
          tables.coalesced,
          rows.map(({ row }) => Object.values(row)),
        )
      if (joined.length > 0) await tx.insert(tables.joined, joined.splice(0))
    },
  }
}

/** Drops the oldest contents until the rest fits. The newest one stays whatever its size. */
async function trim(tx: Context, row: CoalescedRow, keep: PlainJoin['keep']): Promise<CoalescedRow> {
  let { first_kept: first, size } = row
  const { run, joined: last } = row
  while (first < last && (keep === 'latest' || size > maxUnits || first <= last - maxNamedRequests)) {
    const [dropped] = await tx.all<{ size: number }>(
      'SELECT size FROM joined WHERE run = ?1 AND number = ?2',
      [run, first],
    )
    await tx.run('UPDATE joined SET content = NULL, size = 0 WHERE run = ?1 AND number = ?2', [run, first])
    size -= dropped?.size ?? 0
    first += 1
  }
  if (last > maxNamedRequests)
    await tx.run('DELETE FROM joined WHERE run = ?1 AND number <= ?2', [run, last - maxNamedRequests])
  await tx.run('UPDATE coalesced SET joined = ?1, first_kept = ?2, size = ?3 WHERE run = ?4', [
    last,
    first,
    size,
    run,
  ])
  return { ...row, first_kept: first, size }
}

/** Returns the run that an action joined, as long as the action is among the run's newest 1,000. */
export async function joinedTo(tx: Context, action: Id): Promise<Id | undefined> {
  const [row] = await tx.all<{ run: Id }>('SELECT run FROM joined WHERE action = ?1', [action])
  return row?.run
}

/** Lets no further request join the run. */
export async function endCoalescing(tx: Context, run: Id): Promise<void> {
  await tx.run('UPDATE coalesced SET deadline = NULL WHERE run = ?1', [run])
}

/** Erases the contents that joined a run. */
export async function forgetJoined(tx: Context, run: Id): Promise<void> {
  await tx.run('UPDATE joined SET content = NULL, size = 0 WHERE run = ?1', [run])
}

/** The clock was set back by `ms` milliseconds. Runs of more than a day before no longer wait, and no longer count for an hour. */
export async function shiftCoalesced(tx: Context, ms: number): Promise<void> {
  await tx.run('UPDATE coalesced SET at = at - ?1, deadline = deadline - ?1 WHERE at > ?2', [
    ms,
    tx.now + ms - 24 * hourMs,
  ])
}

/** The fields of a run's record about the requests that became it. */
export type Coalesced = Pick<NonNullable<RunRecord['coalesce']>, 'count' | 'requests' | 'requestIds'>

async function findCoalesced({ all }: Statements, run: Id): Promise<CoalescedRow | undefined> {
  const [row] = await all<CoalescedRow>('SELECT * FROM coalesced WHERE run = ?1', [run])
  return row
}

export async function readCoalesced(
  statements: Statements,
  run: Id,
  ownRequest: Id | undefined,
): Promise<Coalesced | undefined> {
  const row = await findCoalesced(statements, run)
  if (row === undefined) return undefined
  const rows = await statements.all<{ request: Id }>(
    'SELECT request FROM joined WHERE run = ?1 ORDER BY number',
    [run],
  )
  const ids = rows.map(({ request }) => request)
  return { count: row.joined + 1, ...requestsOf(ownRequest, ids, row.joined) }
}

type JoinedRow = Pick<Row<'joined'>, 'request' | 'at' | 'content'>

/** Returns the requests that joined a run, as far as they are known by id, oldest first, and how many joined in all. */
export async function readJoined(statements: Statements, run: Id) {
  const row = await findCoalesced(statements, run)
  if (row === undefined) return undefined
  const rows = await statements.all<JoinedRow>(
    'SELECT request, at, content FROM joined WHERE run = ?1 ORDER BY number',
    [run],
  )
  const joined = rows.map(
    ({ request, at, content }): JoinedRequest => ({
      requestId: request,
      at,
      ...(content !== null && { content: JSON.parse(content) }),
    }),
  )
  const [recent] = await statements.all<{ count: number }>(
    // A run with a later time was accepted before the clock was set back, at an unknown time.
    'SELECT count(*) AS count FROM coalesced WHERE key = ?1 AND number <= ?2 AND at > ?3 AND at <= ?4',
    [row.key, row.number, row.at - hourMs, row.at],
  )
  return { joined, joinedCount: row.joined, ofKey: Number(recent?.count ?? 0) }
}

/** Returns the newest messages that joined a run, oldest first. */
export async function readJoinedMessages(
  statements: Statements,
  run: Id,
): Promise<NonNullable<RunRecord['joined']>> {
  const rows = await statements.all<JoinedRow>(
    `SELECT request, at, content FROM joined WHERE run = ?1 ORDER BY number DESC LIMIT ${maxShown}`,
    [run],
  )
  return rows.toReversed().map(({ request, at, content }) => ({
    requestId: request,
    at,
    ...(content !== null && { message: JSON.parse(content).message }),
  }))
}
