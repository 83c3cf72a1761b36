/**
 * Keeps replay jobs and their items. An item gets the id of its replay before the replay begins, and keeps it: a replay that is
 * accepted again after a restart is answered like the first time.
 */

import type { Statements } from '@reveille/kit'
import type { Context } from '../context.ts'
import {
  type CountedJob,
  jobOf,
  keyOfOptions,
  optionsOfJob,
  refuseOverMostItems,
  unknown,
  withEnd,
  wrongState,
} from '../decisions.ts'
import { isId } from '../id.ts'
import type { Command, CommandResult, Id, ReplayJob, ReplayJobItem } from '../port.ts'
import type { ItemQuery } from '../reading.ts'
import { tables } from '../schema.ts'
import { columnOfText, textOfColumn } from './rows.ts'

type Of<Type extends Command['type']> = Command & { readonly type: Type }

interface JobRow extends CountedJob {
  readonly id: Id
}

interface ItemRow extends Pick<ReplayJobItem, 'state'> {
  readonly number: number
  readonly request: Id
  readonly replay: Id | null
  readonly reason: string | null
}

const unknownJob = unknown('job')

/** Finds a job, and keeps other transactions from changing it. */
async function findJob(tx: Context, id: Id): Promise<JobRow | undefined> {
  if (!isId(id)) return undefined
  const [row] = await tx.all<JobRow>(`SELECT * FROM jobs WHERE id = ?1 ${tx.dialect.forUpdate}`, [id])
  return row
}

async function writeJob(tx: Context, row: JobRow): Promise<void> {
  await tx.run(
    `UPDATE jobs SET whole = ?1, total = ?2, done = ?3, failed = ?4, skipped = ?5, state = ?6, ended_at = ?7 WHERE id = ?8`,
    [row.whole, row.total, row.done, row.failed, row.skipped, row.state, row.ended_at, row.id],
  )
}

function ended({ state }: JobRow): CommandResult {
  return wrongState(`it is ${state}`)
}

export async function beginJob(tx: Context, { job, items, more }: Of<'job-begin'>): Promise<CommandResult> {
  refuseOverMostItems(items.length)
  const key = keyOfOptions(job.options)
  await tx.lock([`job:${job.id}`, ...(key === undefined ? [] : [`job-key:${key}`])])
  let row = await findJob(tx, job.id)
  if (row === undefined) {
    const same = key === undefined ? undefined : await jobWithKey(tx, key)
    if (same !== undefined) return { ok: true, done: 0, job: same }
    const fresh = [
      job.id,
      JSON.stringify(job.filter),
      optionsOfJob(job),
      key === undefined ? null : columnOfText(key),
      tx.node,
    ]
    await tx.insert(tables.jobs, [[...fresh, 'running', 0, 0, 0, 0, 0, job.createdAt, null]])
    row = await findJob(tx, job.id)
  }
  if (row === undefined || row.state !== 'running') return row === undefined ? unknownJob : ended(row)
  if (row.whole === 1) {
    // The last call is made again because its answer was lost.
    return more === undefined ? { ok: true, done: 0 } : wrongState('it has all of its items')
  }
  const known = await tx.all<{ request: Id }>(
    `SELECT request FROM job_items WHERE job = ?1 AND request IN ${tx.dialect.among('?2', 'id')}`,
    [row.id, items],
  )
  const before = new Set(known.map(({ request }) => request))
  const fresh = [...new Set(items)].filter((request) => !before.has(request))
  const { total } = row
  await tx.insert(
    tables.job_items,
    fresh.map((request, index) => [job.id, total + index + 1, request, null, 'open', null]),
  )
  await writeJob(
    tx,
    withEnd(
      { ...row, total: total + fresh.length, whole: (more === undefined ? 1 : 0) as 0 | 1 },
      job.createdAt,
    ),
  )
  return { ok: true, done: fresh.length }
}

async function jobWithKey({ all }: Context, key: string): Promise<Id | undefined> {
  const [row] = await all<{ id: Id }>(`SELECT id FROM jobs WHERE options_key = ?1 AND state <> 'cancelled'`, [
    columnOfText(key),
  ])
  return row?.id
}

export async function nextItems(tx: Context, { job, limit, mint }: Of<'job-next'>): Promise<CommandResult> {
  refuseOverMostItems(limit)
  const row = await findJob(tx, job)
  if (row === undefined) return unknownJob
  if (row.state !== 'running') return ended(row)
  if (row.whole === 0) return wrongState('it has not got all of its items yet')
  const open = await tx.all<ItemRow>(
    `SELECT * FROM job_items WHERE job = ?1 AND state = 'open' ORDER BY number LIMIT ?2`,
    [row.id, limit],
  )
  let minted = 0
  const items: { request: Id; replay: Id }[] = []
  for (const { number, request, replay } of open) {
    const id = replay ?? mint[minted++]
    if (id === undefined) continue
    if (replay === null)
      await tx.run('UPDATE job_items SET replay = ?1 WHERE job = ?2 AND number = ?3', [id, row.id, number])
    items.push({ request, replay: id })
  }
  return { ok: true, items }
}

export async function settleItems(tx: Context, { job, items, at }: Of<'job-settle'>): Promise<CommandResult> {
  refuseOverMostItems(items.length)
  const row = await findJob(tx, job)
  if (row === undefined) return unknownJob
  const counts = { done: row.done, failed: row.failed, skipped: row.skipped }
  for (const { request, state, reason } of items)
    counts[state] += await tx.run(
      `UPDATE job_items SET state = ?1, reason = ?2 WHERE job = ?3 AND request = ?4 AND state = 'open' AND replay IS NOT NULL`,
      [state, reason === undefined ? null : columnOfText(reason), row.id, request],
    )
  await writeJob(tx, withEnd({ ...row, ...counts }, at))
  return { ok: true }
}

export async function cancelJob(tx: Context, { job, at }: Of<'job-cancel'>): Promise<CommandResult> {
  const row = await findJob(tx, job)
  if (row === undefined) return unknownJob
  if (row.state !== 'running') return ended(row)
  await writeJob(tx, { ...row, state: 'cancelled', ended_at: at })
  return { ok: true }
}

/** Cancels jobs of a process that ended before it had added all of their items. `living` selects the ids of the processes that are left. */
export async function cancelPartialJobs(tx: Context, living: string): Promise<void> {
  await tx.run(
    `UPDATE jobs SET state = 'cancelled', ended_at = ?1 WHERE state = 'running' AND whole = 0 AND node NOT IN (${living})`,
    [tx.now],
  )
}

export async function readJob({ all }: Statements, id: Id): Promise<ReplayJob | undefined> {
  const [row] = await all<JobRow>('SELECT * FROM jobs WHERE id = ?1', [id])
  return row && jobOf(row.id, row)
}

/** Jobs are few. */
export async function readJobs(
  { all }: Statements,
  limit: number,
  state?: string,
  before?: Id,
): Promise<ReplayJob[]> {
  const values = [limit, ...(state === undefined ? [] : [state]), ...(before === undefined ? [] : [before])]
  const conditions = [
    ...(state === undefined ? [] : ['state = ?2']),
    ...(before === undefined ? [] : [`id < ?${values.length}`]),
  ]
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const rows = await all<JobRow>(`SELECT * FROM jobs ${where} ORDER BY id DESC LIMIT ?1`, values)
  return rows.map((row) => jobOf(row.id, row))
}

export async function readJobItems(
  { all }: Statements,
  id: Id,
  { limit, state, newestFirst = false, after }: ItemQuery,
): Promise<readonly (ReplayJobItem & { readonly number: number })[]> {
  const [order, start] = newestFirst ? (['<', Number.MAX_SAFE_INTEGER] as const) : (['>', 0] as const)
  const rows = await all<ItemRow>(
    `SELECT * FROM job_items WHERE job = ?1 AND number ${order} ?2 ${state === undefined ? '' : 'AND state = ?4'}
     ORDER BY number ${newestFirst ? 'DESC' : ''} LIMIT ?3`,
    [id, after ?? start, limit, ...(state === undefined ? [] : [state])],
  )
  return rows.map(({ number, request, replay, state, reason }) => ({
    number,
    request,
    ...(replay !== null && { replay }),
    state,
    ...(reason !== null && { reason: textOfColumn(reason) }),
  }))
}
